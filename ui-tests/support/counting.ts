/** A turn of many steps that needs nobody: the agent counts to six, a cell a number. */
import type { FakeModel } from './model';
import type { Panel } from './panel';

const NUMBERS = [1, 2, 3, 4, 5, 6];
/** The sources of its cells. */
export const COUNTED = NUMBERS.map(n => `print(${n})`);
/** What each of them prints. */
export const PRINTED = NUMBERS.map(n => [`${n}\n`]);

/** Begin the turn; the model thinks for so many seconds before each step. */
export async function count(
  model: FakeModel,
  panel: Panel,
  seconds: number
): Promise<void> {
  await panel.choose('Auto');
  await model.speed({ first: seconds });
  await model.play('count');
  await panel.ask('Count');
}
