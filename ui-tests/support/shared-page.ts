/**
 * One page for the tests of a file, one after the other: to load JupyterLab takes more of the
 * processor than most of them do. Each has a notebook, a kernel and a conversation of its own; the
 * page stays, as it does for a person who closes a notebook and opens another.
 */
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { Browser, BrowserContext, Page } from '@playwright/test';

/**
 * The files that share. No page is shared that a test loads in a way of its own, or in which a
 * script of an output has left listeners.
 */
export const SHARING =
  /\/(accidental|hostile|out-of-sight|trusted|branches|commands|completions|composer|conversations|drafts-under-commands|failed|faults|history|inert|kernel-tool|magic|modes|results|review|smoke|steering|stop|table)\.spec\.ts$/;

export class SharedPage {
  /** The context with the page that the last test left, or a new one. `key`: who may share it. */
  async begin(browser: Browser, key: string): Promise<BrowserContext> {
    if (
      key !== this._key ||
      !this._tidy ||
      this._context?.pages()[0].isClosed()
    ) {
      await this.close();
    }
    this._tidy = false;
    this._key = key;
    this._context ??= await browser.newContext();
    const context = this._context;
    // The page of the next test; any other is new.
    const [page] = context.pages();
    if (page) {
      const another = context.newPage;
      context.newPage = async () => {
        context.newPage = another;
        return page;
      };
    }
    return context;
  }

  /** After a test that passed: close its notebooks and go back to how the page was. */
  async tidy(page: Page): Promise<void> {
    const [, ...others] = this._context!.pages();
    await Promise.all(others.map(other => other.close()));
    this._tidy = await page.evaluate(async () => {
      const { shell } = window.jupyterapp;
      const open = Array.from(shell.widgets('main')) as NotebookPanel[];
      // A save must not come after the end of the folder; one that asks something never ends.
      await Promise.race([
        Promise.all(open.map(widget => widget.context?.save())),
        new Promise(resolve => setTimeout(resolve, 5_000))
      ]);
      open.forEach(widget => widget.dispose());
      // JupyterLab puts its launcher into the empty middle.
      while (Array.from(shell.widgets('main')).length === 0) {
        await new Promise(resolve => setTimeout(resolve, 20));
      }
      return !document.querySelector('.jp-Dialog');
    });
  }

  async close(): Promise<void> {
    const context = this._context;
    this._context = undefined;
    await context?.close();
  }

  private _context: BrowserContext | undefined;
  private _key = '';
  private _tidy = false;
}
