/** The offline demo, as a person plays it. */
import { expect } from '@playwright/test';
import type { NotebookHelper } from './notebook';
import type { Panel } from './panel';

/**
 * The titles of the demo's cards, in order. The third mends the second; a check finds that a filter
 * of the third matches no row, and the fourth repairs it.
 */
export const STEPS = [
  'Look at the data',
  'Parse dates and amounts',
  'Parse dates and amounts',
  'Parse dates and amounts',
  'Growth by region',
  'Chart the growth'
] as const;

/** From the first-run card to the demo's first draft; the path of its notebook. */
export async function startDemo(
  notebook: NotebookHelper,
  panel: Panel
): Promise<string> {
  await panel.log.getByRole('button', { name: 'Try the offline demo' }).click();
  await expect.poll(() => notebook.front()).toContain('codeinterp-demo');
  const path = await notebook.front();
  await notebook.attach(path);
  await panel.log
    .getByRole('button', { name: /Which region grew fastest/ })
    .click();
  await panel.sendButton.click();
  return path;
}

/** Run the draft that waits, and wait for its end. */
export async function runStep(
  notebook: NotebookHelper,
  panel: Panel,
  title: string
): Promise<void> {
  const before = (await notebook.executed()).length;
  await panel.decide('Run', title);
  await expect
    .poll(async () => (await notebook.executed()).length)
    .toBe(before + 1);
}
