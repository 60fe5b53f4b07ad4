/**
 * Errors in the console of a page that this extension causes: those that its files report or
 * throw. Others are JupyterLab's own, or the browser's where a test cuts a connection. A comm that
 * is not found may be of JupyterLab's own where two pages share a kernel; tests/console.spec.ts
 * looks for those of ours.
 */
import type { BrowserContext } from '@playwright/test';

const OURS = /jupyter-codeinterp/;

/** The errors from now on, in all pages of the context. */
export function errorsIn(context: BrowserContext): readonly string[] {
  const errors: string[] = [];
  const add = (text: string) => {
    if (OURS.test(text)) {
      errors.push(text);
    }
  };
  context.on('console', message => {
    // The browser itself reports a request that failed.
    if (message.type() === 'error' && !/^Failed to load/.test(message.text())) {
      add(`${message.text()} (${message.location().url})`);
    }
  });
  context.on('weberror', error => {
    const reason = error.error();
    add(reason.stack ?? String(reason));
  });
  return errors;
}
