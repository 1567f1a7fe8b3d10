using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [(name = "worker", worker = .worker)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "worker")],
);

# No flags: in particular no nodejs_compat.
const worker :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  bindings = [(name = "SAGA_KEYS", fromEnvironment = "SAGA_KEYS")],
  compatibilityDate = "2026-11-01",
);
