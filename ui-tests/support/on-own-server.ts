/** The `test` of those browser tests that need a server for themselves. */
import { mkdirSync } from 'fs';
import path from 'path';
import { expect, test as base } from './fixtures';
import { OwnServer } from './own-server';

export { expect };

interface IOwn {
  /** Of the server, beside those in its configuration file. */
  traits: string[];
  /** What is added to its environment. */
  environment: Record<string, string>;
  server: OwnServer;
}

/** For `environment`: nobody has given it a key. */
export const NO_KEY = { ANTHROPIC_API_KEY: '', ANTHROPIC_BASE_URL: '' };

export const test = base.extend<IOwn>({
  traits: [[], { option: true }],
  environment: [{}, { option: true }],
  server: async ({ environment, model: _, traits }, use, info) => {
    const server = new OwnServer(traits, environment);
    try {
      await server.start();
      await use(server);
    } finally {
      await server.stop();
      if (info.status !== info.expectedStatus) {
        await info.attach('server.log', { path: server.log });
      }
    }
    await expect.poll(() => server.kernels()).toEqual([]);
  },
  baseURL: async ({ server }, use) => use(server.url),
  // The folder goes with the server, and so do conversations and kernels.
  tmpPath: async ({ server }, use) => {
    mkdirSync(path.join(server.notebooks, 'work'));
    await use('work');
  },
  cleanUp: async ({ server: _ }, use) => use()
});
