// Runs a function of the current folder in the dev server of `@vercel/node`, as `vercel dev` does, and prints the address.
const { startDevServer } = require(process.env.VERCEL_NODE);

const [, , entrypoint] = process.argv;
const workPath = process.cwd();

void startDevServer({ entrypoint, workPath, config: {}, files: {}, meta: {} }).then(
  ({ port, shutdown }) => {
    console.log(`Serves at http://127.0.0.1:${port}`);
    process.once('SIGTERM', () => void shutdown().then(() => process.exit()));
  },
);
