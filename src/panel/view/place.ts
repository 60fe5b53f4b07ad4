/**
 * Where the cells of the next turn go, by the server's own table (core/turn/placing.py). It may
 * yet put one further down, below what its code uses.
 */
import { PLACE_ORDER } from '../../protocol/protocol';
import type { IPlaces } from '../../tokens';

export interface IPlace {
  /** The id of the cell above; '' in an empty notebook. */
  readonly after: string;
  /** That cell is empty, and the new one takes its place. */
  readonly instead: boolean;
}

/** `candidates`: a cell for each rule, where there is one. */
export function place(
  places: Pick<IPlaces, 'ids' | 'isEmpty'>,
  candidates: Partial<Record<(typeof PLACE_ORDER)[number], string>>
): IPlace {
  const { ids } = places;
  const named = PLACE_ORDER.map(rule => candidates[rule] ?? '');
  const after =
    named.find(id => id && ids.includes(id)) ?? ids[ids.length - 1] ?? '';
  return { after, instead: after !== '' && places.isEmpty(after) };
}

/** The latest of these cells that is there still; '' if none is. */
export function latest(
  ids: readonly string[],
  worked: readonly string[]
): string {
  return [...worked].reverse().find(id => ids.includes(id)) ?? '';
}
