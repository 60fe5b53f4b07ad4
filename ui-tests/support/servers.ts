/**
 * The servers of one run. Each of the workers, which run tests side by side, has a lane of its
 * own: JupyterLab with a key, JupyterLab without, the fake model, and a folder.
 *
 * Ports and the folder are chosen once, in the first process; its workers inherit them
 * through the environment. Each may be set from outside.
 */
import { execFileSync } from 'child_process';
import { mkdirSync, rmSync, writeFileSync } from 'fs';
import path from 'path';

function once(name: string, choose: () => string): string {
  return (process.env[name] ??= choose());
}

export function freePort(): string {
  const script =
    "const s = require('net').createServer().listen(0, '127.0.0.1', () => {" +
    // As text: a worker would colour a number.
    'console.log(`${s.address().port}`); s.close(); })';
  return execFileSync(process.execPath, ['-e', script], {
    encoding: 'utf8'
  }).trim();
}

/** All that the servers write. It is emptied by the next run, not by this one. */
export const FOLDER = once('CODEINTERP_TEST_FOLDER', () => {
  const servers = path.join(path.dirname(__dirname), 'servers');
  rmSync(servers, { recursive: true, force: true });
  return servers;
});

/** How many tests run at a time. With two cores two would leave a third of them idle: tests wait. */
export const WORKERS = Number(process.env.CODEINTERP_TEST_WORKERS ?? 3);

export interface ILane {
  model: string;
  lab: string;
  keyless: string;
  /** Where the notebooks of its tests lie on disk, for both servers. */
  notebooks: string;
}

export const LANES = Array.from({ length: WORKERS }, (_, lane): ILane => {
  const url = (name: string) =>
    `http://127.0.0.1:${once(`CODEINTERP_TEST_${name}_PORT_${lane}`, freePort)}`;
  return {
    model: url('MODEL'),
    lab: url('LAB'),
    keyless: url('KEYLESS'),
    notebooks: path.join(FOLDER, `notebooks-${lane}`)
  };
});

/** That of this worker; Playwright numbers those that run at the same time from 0. */
export const LANE = LANES[Number(process.env.TEST_PARALLEL_INDEX ?? 0)];

/** What a server has said, from its start to its end. */
export function logOf(name: string): string {
  return path.join(FOLDER, name, 'server.log');
}

function labFolders(name: string) {
  const lab = path.join(FOLDER, name, 'lab');
  return {
    JUPYTERLAB_SETTINGS_DIR: path.join(lab, 'settings'),
    JUPYTERLAB_WORKSPACES_DIR: path.join(lab, 'workspaces')
  };
}

/** Settings by plugin, as in `{'jupyter-codeinterp:core': {…}}`. */
export type Settings = Record<string, object>;

const ALWAYS: Settings = {
  '@jupyterlab/apputils-extension:notification': {
    checkForUpdates: false,
    fetchNews: 'false'
  },
  '@jupyterlab/codemirror-extension:plugin': {
    defaultConfig: { cursorBlinkRate: 0 }
  }
};

/** Give a server's pages an empty workspace and these settings; the server reads both anew each time. */
export function resetLab(name: string, settings: Settings = {}): void {
  const folders = labFolders(name);
  for (const folder of Object.values(folders)) {
    rmSync(folder, { recursive: true, force: true });
  }
  for (const [plugin, values] of Object.entries({ ...ALWAYS, ...settings })) {
    const [extension, schema] = plugin.split(':');
    const folder = path.join(folders.JUPYTERLAB_SETTINGS_DIR, extension);
    mkdirSync(folder, { recursive: true });
    const file = path.join(folder, `${schema}.jupyterlab-settings`);
    writeFileSync(file, JSON.stringify(values));
  }
}

/**
 * The environment of a server: folders of its own, so that nothing of the person's Jupyter
 * is read or changed.
 */
export function serverEnvironment(
  name: string,
  serverURL: string,
  notebooks: string
): Record<string, string> {
  const own = (kind: string) => {
    const made = path.join(FOLDER, name, kind);
    mkdirSync(made, { recursive: true });
    return made;
  };
  mkdirSync(notebooks, { recursive: true });
  return {
    JUPYTER_CONFIG_DIR: own('config'),
    JUPYTER_DATA_DIR: own('data'),
    JUPYTER_RUNTIME_DIR: own('runtime'),
    JUPYTERLAB_GALATA_ROOT_DIR: notebooks,
    ...labFolders(name),
    CODEINTERP_TEST_PORT: new URL(serverURL).port,
    IPYTHONDIR: own('ipython'),
    TMPDIR: own('tmp')
  };
}
