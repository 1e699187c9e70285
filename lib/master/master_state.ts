import type {
  ApplicationInfo,
  ExecutorInfo,
  MasterStateResponse,
  WorkerInfo,
} from "../messages/deploy.ts";
import type { ApplicationEntry } from "./application_entry.ts";
import type { ExecutorEntry } from "./executor_entry.ts";
import type { MasterFacts } from "./turn.ts";
import type { WorkerEntry } from "./worker_entry.ts";

/** All that the master's page and its JSON show. */
export function buildMasterState(facts: MasterFacts): MasterStateResponse {
  const { tables, self } = facts;
  return {
    type: "MasterStateResponse",
    host: self.address.host,
    port: self.address.port,
    status: tables.state,
    workers: [...tables.workers].map(describeWorker),
    activeApps: [...tables.applications.values()].map(describeApplication),
    completedApps: tables.completed.map(describeApplication),
  };
}

function describeWorker(worker: WorkerEntry): WorkerInfo {
  return {
    id: worker.id,
    host: worker.host,
    port: worker.port,
    webUiAddress: worker.webUiUrl,
    cores: worker.cores,
    coresUsed: worker.coresUsed,
    memory: worker.memory,
    memoryUsed: worker.memoryUsed,
    state: worker.state,
    lastHeartbeat: worker.lastHeartbeat,
  };
}

function describeApplication(app: ApplicationEntry): ApplicationInfo {
  return {
    id: app.id,
    name: app.description.name,
    user: app.description.user,
    startTime: app.startTime,
    endTime: app.endTime,
    state: app.state,
    coresGranted: app.coresGranted,
    memoryPerExecutor: app.description.defaultProfile.memoryPerExecutor,
    executors: [...app.executors.values()].map(describeExecutor),
    removedExecutors: app.removedExecutors.map(describeExecutor),
  };
}

function describeExecutor(executor: ExecutorEntry): ExecutorInfo {
  return {
    id: executor.id,
    workerId: executor.worker.id,
    cores: executor.cores,
    memory: executor.memory,
    resourceProfileId: executor.resourceProfileId,
    state: executor.state,
  };
}
