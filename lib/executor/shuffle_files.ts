import type { TaskContext } from "../rdd/task_environment.ts";
import { fileStream, type StreamSource } from "../rpc/stream_source.ts";

const STREAM_PREFIX = "/shuffle/";

/** A file name that no other try of any task of this application has. */
export function shuffleFileName(
  shuffleId: number,
  { partition, taskId }: TaskContext,
): string {
  return `shuffle_${shuffleId}_${partition}_${taskId}.data`;
}

/** The stream under which an executor serves a segment of its files. */
export function shuffleStreamId(
  path: string,
  { offset, length }: { offset: number; length: number },
): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return `${STREAM_PREFIX}${name}/${offset}/${length}`;
}

/** Serves the segments of a directory's shuffle files, and nothing else. */
export function shuffleStreams(
  directory: string,
): (id: string) => StreamSource | undefined {
  return (id) => {
    if (!id.startsWith(STREAM_PREFIX)) return undefined;
    const match = /^(shuffle_\d+_\d+_\d+\.data)\/(\d{1,15})\/(\d{1,15})$/
      .exec(id.slice(STREAM_PREFIX.length));
    if (!match) return undefined;
    const path = `${directory}/${match[1]}`;
    const [offset, length] = [Number(match[2]), Number(match[3])];
    try {
      // A stream that is promised must be delivered whole.
      if (Deno.statSync(path).size < offset + length) return undefined;
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return undefined;
      throw error;
    }
    return fileStream(path, { offset, length });
  };
}

/** Removes all files of one shuffle. */
export async function removeShuffleFiles(
  directory: string,
  shuffleId: number,
): Promise<void> {
  for await (const { name } of Deno.readDir(directory)) {
    if (name.startsWith(`shuffle_${shuffleId}_`)) {
      await Deno.remove(`${directory}/${name}`);
    }
  }
}
