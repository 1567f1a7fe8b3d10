using Workerd = import "/workerd/workerd.capnp";

# A worker that sees the web platform and nothing else.
const bare :Workerd.Config = (
  services = [(name = "worker", worker = .bareWorker)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "worker")],
);

# A worker as it is by default: from compatibility date 2026-08-04 on that includes much of Node, such as
# process.getBuiltinModule.
const default :Workerd.Config = (
  services = [(name = "worker", worker = .defaultWorker)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "worker")],
);

const bareWorker :Workerd.Worker = (
  modules = .modules,
  bindings = .bindings,
  compatibilityDate = .date,
  compatibilityFlags = ["no_nodejs_compat_v2"],
);

const defaultWorker :Workerd.Worker = (
  modules = .modules,
  bindings = .bindings,
  compatibilityDate = .date,
);

const modules :List(Workerd.Worker.Module) = [(name = "worker.js", esModule = embed "worker.js")];
const bindings :List(Workerd.Worker.Binding) = [(name = "SAGA_KEYS", fromEnvironment = "SAGA_KEYS")];
const date :Text = "2026-11-01";
