/** Actions of other windows in the person's name, and the person's two replies to them. */
import type { DoneElsewhere, YouAre } from '../../protocol/protocol';
import type { IClient } from '../../tokens';
import { person } from '../../notebook/review/press';
import type { PanelState } from './panel-state';

/** Actions reported once per turn and window after the person confirmed one. */
const ONCE_A_TURN: readonly DoneElsewhere['what'][] = [
  'run',
  'reject',
  'answer',
  'stop',
  'take_back',
  'undo',
  'redo',
  'keep',
  'remove',
  'rename'
];

export class Others {
  constructor(
    private _state: PanelState,
    private _client: IClient
  ) {}

  /** Set this page's number, which the server sends when it connects. */
  setWindow({ window, missed }: YouAre): void {
    this._mine.add(window);
    this._state.patch({ window, missedOthers: missed });
  }

  /** Report an action, unless it is this page's or confirmed for this turn and window. */
  add(done: DoneElsewhere): void {
    // `_mine` has all numbers of this page: the server may have forgotten earlier ones.
    if (!this._confirmed.has(turnOf(done)) && !this._mine.has(done.window)) {
      const others = this._state.now.others.filter(
        other => lineOf(other) !== lineOf(done)
      );
      this._state.patch({ others: [...others, done] });
    }
  }

  /** Confirm an action. Only a person may: a script in this page can open other windows. */
  wasMe(done: DoneElsewhere): void {
    if (!this._state.byPerson()) {
      return;
    }
    if (ONCE_A_TURN.includes(done.what)) {
      this._confirmed.add(turnOf(done));
    }
    const others = this._state.now.others.filter(other => other !== done);
    this._state.patch({ others });
  }

  /** Stop all turns, return to Review, restore settings, close all other windows. */
  async notMe(): Promise<void> {
    if (person.acts()) {
      const done = await this._state.attempt(() =>
        this._client.send({ type: 'not_me' })
      );
      if (done) {
        this._state.patch({ others: [], missedOthers: false });
      }
    }
  }

  private _confirmed = new Set<string>();
  private _mine = new Set<number>();
}

/** Whether an action concerns more than one cell or a key, or cannot be undone. */
export function isGrave({ what, name }: DoneElsewhere): boolean {
  return (
    ['run_all', 'turn', 'key', 'no_key', 'delete'].includes(what) ||
    (what === 'mode' && name === 'auto')
  );
}

/** The key of a banner: it shows the newest action of its kind. */
function lineOf(done: DoneElsewhere): string {
  const decides = done.what === 'run' || done.what === 'reject';
  const kind = decides ? 'decides' : done.what;
  return [done.window, done.session_id, kind].join();
}

function turnOf(done: DoneElsewhere): string {
  return [lineOf(done), done.turn].join();
}
