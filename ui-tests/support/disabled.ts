/** A page in which a plugin is disabled, as `jupyter labextension disable` does it. */
import type { Page } from '@playwright/test';

/** From the next load on. The server reads its own list once; the page is told of another. */
export async function disable(page: Page, plugin: string): Promise<void> {
  await page.addInitScript(disabled => {
    // The page is there by then, and its scripts, which are deferred, have not run.
    document.addEventListener('readystatechange', () => {
      const node = document.getElementById('jupyter-config-data');
      if (document.readyState === 'interactive' && node) {
        const config = JSON.parse(node.textContent!);
        config.disabledExtensions = [
          ...(config.disabledExtensions ?? []),
          disabled
        ];
        node.textContent = JSON.stringify(config);
      }
    });
  }, plugin);
}

/** JupyterLab's, of a comm of its own that a kernel closes late. */
const NOT_OURS = /^Comm not found for comm id/;

/** What the page says has gone wrong, as it goes wrong. */
export function faults(page: Page): string[] {
  const said: string[] = [];
  page.on('pageerror', error => said.push(String(error)));
  page.on('console', message => {
    if (message.type() === 'error' && !NOT_OURS.test(message.text())) {
      said.push(message.text());
    }
  });
  return said;
}
