/** Another host on the network: it writes down who asks it for something. */
import { createServer } from 'http';
import type { AddressInfo } from 'net';
import { expect, type Page } from '@playwright/test';

export class Listener {
  /** Its address, once it listens. */
  url = '';

  async start(): Promise<void> {
    await new Promise<void>(done => this._server.listen(0, '127.0.0.1', done));
    const { port } = this._server.address() as AddressInfo;
    this.url = `http://127.0.0.1:${port}`;
  }

  async stop(): Promise<void> {
    this._server.closeAllConnections();
    await new Promise(done => this._server.close(done));
  }

  /** Also what the page tried to send and the listener did not get. */
  watch(page: Page): void {
    page.on('request', request => {
      if (request.url().startsWith(this.url)) {
        this._asked.add(new URL(request.url()).pathname);
      }
    });
  }

  /** Nothing has asked for anything; and the page would be heard if it did. */
  async heardNothing(page: Page): Promise<void> {
    const control = `/control-${++this._controls}`;
    await page.evaluate(
      url =>
        new Promise<void>(done => {
          const image = new Image();
          image.onload = image.onerror = () => done();
          image.src = url;
        }),
      this.url + control
    );
    expect([...this._asked]).toContain(control);
    const others = [...this._asked].filter(path => !/^\/control-/.test(path));
    expect(others).toEqual([]);
  }

  private readonly _asked = new Set<string>();
  private _controls = 0;
  private readonly _server = createServer((request, response) => {
    this._asked.add(request.url ?? '');
    response.writeHead(404, { 'Access-Control-Allow-Origin': '*' });
    response.end();
  });
}
