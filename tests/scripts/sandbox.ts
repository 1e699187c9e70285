/**
 * A copy of the scripts in a folder of its own, with a Deno that only tells what it was
 * asked, and a PATH that holds nothing but what is put there.
 *
 * @module
 */

const REPOSITORY = new URL("../../", import.meta.url);

/** What the scripts may use of a host: no Deno, no npm. */
const TOOLS = [
  ..."awk bash cat chmod cksum cp cut date dirname env find git grep gzip head id ln ls"
    .split(" "),
  ..."mkdir mktemp mv readlink rm rmdir sed sh sha256sum shasum sort tail tar tr uname wc"
    .split(" "),
];

/** Says which Deno it is, its flags for children, and its arguments, one a line. */
const TELLING_DENO = `#!/bin/sh
case $1 in
  --version)
    echo "deno @VERSION@ (stable, release, test)"
    ;;
  eval)
    case $* in
      *execPath*) echo "$0" ;;
      *) exec "@REAL@" "$@" ;;
    esac
    ;;
  bundle)
    for output in "$@"; do
      [ "\${before:-}" != --output ] || echo "// bundle" >"$output"
      before=$output
    done
    ;;
  compile)
    echo "error: Setting up base binary" >&2
    exit 1
    ;;
  *)
    echo "deno @VERSION@"
    for argument in "$@"; do printf '<%s>\\n' "$argument"; done
    printf 'flags %s\\n' "\${SPARKTS_RUN_FLAGS-unset}"
    ;;
esac
`;

/** How a command of a sandbox ended. */
export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A checkout, a home folder and a PATH that vanish together. */
export class Sandbox implements AsyncDisposable {
  /** The folder that holds the others, links resolved. */
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async make(): Promise<Sandbox> {
    const folder = await Deno.realPath(
      await Deno.makeTempDir({ prefix: "sparkts-scripts-" }),
    );
    const sandbox = new Sandbox(folder);
    for (const name of ["bin", "home", "tmp", "app/scripts/offline"]) {
      await Deno.mkdir(`${folder}/${name}`, { recursive: true });
    }
    for (const name of ["deno", "sparkts", "test", "check", "compile"]) {
      await Deno.copyFile(
        new URL(`scripts/${name}`, REPOSITORY),
        `${folder}/app/scripts/${name}`,
      );
    }
    await Deno.writeTextFile(`${folder}/app/deno.json`, "{}\n");
    await Deno.writeTextFile(
      `${folder}/app/scripts/offline/import_map.json`,
      "{}\n",
    );
    for (const tool of TOOLS) {
      const path = await findTool(tool);
      if (path !== undefined) await Deno.symlink(path, `${folder}/bin/${tool}`);
    }
    return sandbox;
  }

  /** The path of a file in the sandbox. */
  path(name: string): string {
    return `${this.folder}/${name}`;
  }

  /** Puts a program in the sandbox. */
  async program(name: string, text: string): Promise<string> {
    const path = this.path(name);
    await Deno.writeTextFile(path, text, { mode: 0o755 });
    return path;
  }

  /** Puts a Deno of some version in the sandbox, that tells what it was asked. */
  tellingDeno(name: string, version: string): Promise<string> {
    return this.program(
      name,
      TELLING_DENO.replaceAll("@VERSION@", version)
        .replaceAll("@REAL@", Deno.execPath()),
    );
  }

  /** Runs a program with nothing in its environment but what a sandbox has, and `env`. */
  async run(
    command: string,
    args: readonly string[] = [],
    env: Record<string, string> = {},
    cwd = "home",
  ): Promise<Outcome> {
    const { code, stdout, stderr } = await new Deno.Command(command, {
      args: [...args],
      cwd: this.path(cwd),
      clearEnv: true,
      env: {
        PATH: this.path("bin"),
        HOME: this.path("home"),
        TMPDIR: this.path("tmp"),
        ...env,
      },
      stdin: "null",
    }).output();
    const text = new TextDecoder();
    return { code, stdout: text.decode(stdout), stderr: text.decode(stderr) };
  }

  /** Runs `scripts/deno` of the sandbox. */
  deno(args: readonly string[], env: Record<string, string>): Promise<Outcome> {
    return this.run(this.path("app/scripts/deno"), args, env);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.folder, { recursive: true });
  }
}

async function findTool(name: string): Promise<string | undefined> {
  for (const folder of (Deno.env.get("PATH") ?? "").split(":")) {
    try {
      const path = `${folder}/${name}`;
      if ((await Deno.stat(path)).isFile) return path;
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
  return undefined;
}

/** A server on loopback that answers every request alike, and counts them. */
export class FakeRegistry implements AsyncDisposable {
  readonly asked: string[] = [];
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  constructor(body: string, status = 200) {
    this.#server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      (request) => {
        this.asked.push(new URL(request.url).pathname);
        return new Response(body, { status });
      },
    );
  }

  /** What to set JSR_URL to. */
  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}/`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}
