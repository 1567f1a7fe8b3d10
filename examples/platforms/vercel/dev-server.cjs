// Runs the function with the dev server of `@vercel/node`, in which `vercel dev` runs it, and says where.
const { startDevServer } = require(process.env.VERCEL_NODE);

void startDevServer({ entrypoint: 'api/mcp.ts', workPath: __dirname, config: {}, files: {}, meta: {} }).then(
  ({ port, shutdown }) => {
    console.log(`Serves at http://127.0.0.1:${port}`);
    process.once('SIGTERM', () => void shutdown().then(() => process.exit()));
  },
);
