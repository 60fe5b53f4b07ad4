/** What axe finds in parts of a page. */
import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';

/** Each finding as its rule and the elements; those of `parts` that are not there are left out. */
export async function findings(
  page: Page,
  ...parts: string[]
): Promise<string[][]> {
  // "Legacy": in the page itself. Otherwise each look opens a page of its own, for frames of
  // other origins, which nothing here has; that takes half as long again.
  const axe = new AxeBuilder({ page }).setLegacyMode(true);
  for (const part of parts) {
    if (await page.locator(part).count()) {
      axe.include(part);
    }
  }
  const { violations } = await axe.analyze();
  return violations.map(({ id, nodes }) => [
    id,
    ...nodes.map(({ html }) => html)
  ]);
}
