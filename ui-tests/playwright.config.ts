import { execFileSync } from 'child_process';
import path from 'path';
import { defineConfig } from '@playwright/test';
import type { IOptions } from './support/fixtures';
import {
  LANE,
  LANES,
  logOf,
  serverEnvironment,
  WORKERS
} from './support/servers';

/** The system's Chromium, its shell without windows first; without any Playwright's own is used. */
function chromium(): string {
  const look =
    'for name in chromium-headless-shell chromium chromium-browser google-chrome; do' +
    ' command -v $name && break; done; true';
  return execFileSync('sh', ['-c', look], { encoding: 'utf8' }).trim();
}

/** Whether to run what CI leaves to the nightly workflow. */
const NIGHTLY = process.env.CODEINTERP_NIGHTLY === '1';

/** Whether every Python kernel of this run is a sandboxed one (jupyter_server_test_config.py). */
const SANDBOX = process.env.CODEINTERP_TEST_SANDBOX === '1';
/** What a sandboxed kernel is tried with: the specs whose turns run cells. */
const CORE =
  /\/(sandboxed|smoke|review|results|failed|stop|five-steps|modes|kernel-tool|undo|placing|stale|ordinary)\.spec\.ts$/;

const jupyterLab = 'jupyter lab --config=jupyter_server_test_config.py';
const served = path.join(__dirname, 'support', 'served');

export default defineConfig<IOptions>({
  testDir: 'tests',
  globalTeardown: './support/still-there.ts',
  // No two tests share a server at the same time (see LANES): any test may run beside any.
  workers: WORKERS,
  fullyParallel: true,
  // What then passes is named as flaky in the closing lines: a defect, of the test or the product.
  retries: process.env.CI ? 1 : 0,
  forbidOnly: !!process.env.CI,
  timeout: 120_000,
  expect: { timeout: 20_000 },
  reporter: [['list'], ['html', { open: 'never' }]],
  use: {
    baseURL: LANE.lab,
    viewport: { width: 1280, height: 800 },
    // Writing down what happens takes a fifth of the time; ask for it: --trace retain-on-failure
    trace: 'off',
    screenshot: 'only-on-failure',
    // Playwright would want an ffmpeg of its own for it.
    video: 'off',
    launchOptions: {
      executablePath: process.env.CHROMIUM || chromium() || undefined,
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync'
      ]
    }
  },
  // Of those tagged @plain, sandboxed.spec.ts shows how a sandboxed kernel differs.
  // A test tagged @notebook7 is run in Notebook 7 as well; one tagged @notebook7-nightly, where
  // Notebook 7 shows what JupyterLab does, only at night, as those tagged @nightly.
  grepInvert: NIGHTLY ? undefined : /@nightly/,
  projects: SANDBOX
    ? [
        {
          name: 'sandbox',
          use: { app: 'lab' },
          testMatch: CORE,
          grepInvert: NIGHTLY ? /@plain/ : /@plain|@nightly/
        }
      ]
    : [
        {
          name: 'lab',
          use: { app: 'lab' },
          testIgnore: /\/sandboxed\.spec\.ts$/
        },
        {
          name: 'notebook7',
          use: { app: 'notebook7' },
          grep: NIGHTLY ? /@notebook7/ : /@notebook7(?!-nightly)/
        }
      ],
  webServer: LANES.flatMap(({ model, lab, keyless, notebooks }, lane) => [
    {
      name: `model-${lane}`,
      command: `python -m tests.fake_anthropic --port ${new URL(model).port}`,
      cwd: path.dirname(__dirname),
      url: model
    },
    {
      name: `lab-${lane}`,
      command: jupyterLab,
      env: {
        ...serverEnvironment(`lab-${lane}`, lab, notebooks),
        ANTHROPIC_BASE_URL: model,
        ANTHROPIC_API_KEY: 'sk-ant-test-0123456789'
      },
      url: `${lab}/api`
    },
    {
      name: `keyless-${lane}`,
      command:
        'env -u ANTHROPIC_API_KEY -u ANTHROPIC_AUTH_TOKEN' +
        ` -u ANTHROPIC_BASE_URL ${jupyterLab}`,
      env: serverEnvironment(`keyless-${lane}`, keyless, notebooks),
      url: `${keyless}/api`
    }
  ]).map(server => ({
    ...server,
    command: `exec '${served}' '${logOf(server.name)}' ${server.command}`,
    reuseExistingServer: false,
    timeout: 60_000,
    gracefulShutdown: { signal: 'SIGTERM', timeout: 5_000 }
  }))
});
