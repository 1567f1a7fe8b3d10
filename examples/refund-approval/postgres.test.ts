import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { bundleForNode, runBundles } from '../../test/support/bundle-for-node.ts';
import { describeWithPostgres, startPostgres } from '../../test/support/postgres-server.ts';

describeWithPostgres('a refund with its store and its queue in PostgreSQL', () => {
  it('[E1] [E3] is paid once or released, without its client', async () => {
    const [server] = await Promise.all([
      startPostgres(),
      bundleForNode(
        ...['client', 'caller', 'server'].map((name) => `examples/refund-approval/${name}.ts`),
      ),
    ]);
    onTestFinished(() => server.remove());
    const { stdout } = await promisify(execFile)(process.execPath, [...runBundles, 'client.ts'], {
      cwd: fileURLToPath(new URL('.', import.meta.url)),
      env: { ...process.env, NODE_ENV: 'production', DATABASE_URL: server.url },
    });
    expect(stdout).toContain('in PostgreSQL');
  });
});
