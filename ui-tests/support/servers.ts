/**
 * The servers of one run: JupyterLab with a key, JupyterLab without, and the fake model.
 *
 * Ports and the folder are chosen once, in the first process; its workers inherit them
 * through the environment. Each may be set from outside.
 */
import { execFileSync } from 'child_process';
import { mkdirSync, rmSync } from 'fs';
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

function url(name: string): string {
  return `http://127.0.0.1:${once(name, freePort)}`;
}

export const MODEL_URL = url('CODEINTERP_TEST_MODEL_PORT');
export const LAB_URL = url('CODEINTERP_TEST_LAB_PORT');
export const KEYLESS_URL = url('CODEINTERP_TEST_KEYLESS_PORT');

/** Where the notebooks of the tests lie on disk, for both servers. */
export const NOTEBOOKS = path.join(FOLDER, 'notebooks');

/**
 * The environment of a server: folders of its own, so that nothing of the person's Jupyter
 * is read or changed.
 */
export function serverEnvironment(
  name: string,
  serverURL: string
): Record<string, string> {
  const own = (kind: string) => {
    const made = path.join(FOLDER, name, kind);
    mkdirSync(made, { recursive: true });
    return made;
  };
  mkdirSync(NOTEBOOKS, { recursive: true });
  return {
    JUPYTER_CONFIG_DIR: own('config'),
    JUPYTER_DATA_DIR: own('data'),
    JUPYTER_RUNTIME_DIR: own('runtime'),
    JUPYTERLAB_GALATA_ROOT_DIR: NOTEBOOKS,
    CODEINTERP_TEST_WORKSPACES: own('workspaces'),
    CODEINTERP_TEST_PORT: new URL(serverURL).port,
    IPYTHONDIR: own('ipython'),
    TMPDIR: own('tmp')
  };
}
