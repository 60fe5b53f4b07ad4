/** A JupyterLab that one test has for itself: it can be killed and started again. */
import { type ChildProcess, execFileSync, spawn } from 'child_process';
import { once } from 'events';
import { closeSync, openSync, readFileSync } from 'fs';
import path from 'path';
import { FOLDER, freePort, LANE, resetLab, serverEnvironment } from './servers';

/** How long a server may take to answer, in milliseconds. */
const PATIENCE = 60_000;

export class OwnServer {
  /**
   * `traits` are given on the command line: `--ServerApp.ip=127.0.0.1`, say; `more` is added
   * to its environment.
   */
  constructor(
    private readonly _traits: readonly string[],
    more: Record<string, string> = {}
  ) {
    const port = freePort();
    const name = `own-${port}`;
    this.url = `http://127.0.0.1:${port}`;
    this.notebooks = path.join(FOLDER, name, 'notebooks');
    this.log = path.join(FOLDER, name, 'server.log');
    resetLab(name);
    this._environment = {
      ...serverEnvironment(name, this.url, this.notebooks),
      ANTHROPIC_BASE_URL: LANE.model,
      ANTHROPIC_API_KEY: 'sk-ant-test-0123456789',
      ...more
    };
    // A run that is broken off leaves nothing behind either.
    process.once('exit', this._killAll);
  }

  readonly url: string;
  /** Where its notebooks lie on disk. */
  readonly notebooks: string;
  readonly log: string;

  /** Also again, after `kill`: on the same port and with the same folders. */
  async start(): Promise<void> {
    const log = openSync(this.log, 'a');
    const config = '--config=jupyter_server_test_config.py';
    this._process = spawn('jupyter', ['lab', config, ...this._traits], {
      cwd: path.dirname(__dirname),
      env: { ...process.env, ...this._environment },
      stdio: ['ignore', log, log]
    });
    closeSync(log);
    const deadline = Date.now() + PATIENCE;
    while (!(await this._answers())) {
      if (!this._isRunning || Date.now() > deadline) {
        const said = readFileSync(this.log, 'utf8');
        throw new Error(`The server does not answer:\n${said}`);
      }
      await new Promise(resolve => setTimeout(resolve, 100));
    }
  }

  /** As by `kill -9`; its kernels are left to themselves. */
  async kill(): Promise<void> {
    const ended = once(this._process!, 'exit');
    this._process!.kill('SIGKILL');
    await ended;
  }

  /** The end of it and of all its kernels. */
  async stop(): Promise<void> {
    process.off('exit', this._killAll);
    if (this._isRunning) {
      await this.kill();
    }
    this._killAll();
  }

  /** The process ids of its kernels, also of those that have outlived it. */
  kernels(): number[] {
    // Each names its connection file, which lies in this server's own folder. (A kernel is
    // in a process group of its own.)
    const ours = this._environment.JUPYTER_RUNTIME_DIR + path.sep;
    return execFileSync('ps', ['-A', '-ww', '-o', 'pid=,args='], {
      encoding: 'utf8'
    })
      .split('\n')
      .filter(line => line.includes(ours))
      .map(line => parseInt(line, 10));
  }

  private async _answers(): Promise<boolean> {
    return fetch(`${this.url}/api`).then(
      response => response.ok,
      () => false
    );
  }

  private get _isRunning(): boolean {
    const ended = this._process;
    return !!ended && ended.exitCode === null && ended.signalCode === null;
  }

  private readonly _killAll = () => {
    if (this._isRunning) {
      this._process!.kill('SIGKILL');
    }
    for (const kernel of this.kernels()) {
      try {
        process.kill(kernel, 'SIGKILL');
      } catch {
        // It has ended by itself.
      }
    }
  };

  private readonly _environment: Record<string, string>;
  private _process: ChildProcess | undefined;
}
