/** What other windows have done in the person's name, and the two answers to it. */
import type { DoneElsewhere } from '../../protocol/protocol';
import type { IClient } from '../../tokens';
import { person } from './by-person';
import type { PanelState } from './panel-state';

export class Others {
  constructor(
    private _state: PanelState,
    private _client: IClient
  ) {}

  /** Two tabs of one person stay usable: decisions are told once a turn and window. */
  learn(done: DoneElsewhere): void {
    if (!this._confirmed.has(turnOf(done))) {
      const others = this._state.now.others.filter(
        other => lineOf(other) !== lineOf(done)
      );
      this._state.patch({ others: [...others, done] });
    }
  }

  /** Only a person says so: a script in this page may be who opened the other window. */
  wasMe(done: DoneElsewhere): void {
    if (!this._state.byPerson()) {
      return;
    }
    if (decides(done)) {
      this._confirmed.add(turnOf(done));
    }
    const others = this._state.now.others.filter(other => other !== done);
    this._state.patch({ others });
  }

  /** Stop what runs, go back to Review, put keys back, close all other windows. */
  async notMe({ window }: DoneElsewhere): Promise<void> {
    if (person.acts()) {
      const done = await this._state.attempt(() =>
        this._client.send({ type: 'not_me', window })
      );
      if (done) {
        this._state.patch({ others: [] });
      }
    }
  }

  private _confirmed = new Set<string>();
}

function decides({ what }: DoneElsewhere): boolean {
  return what === 'run' || what === 'reject';
}

/** What is told on one line: the newest of a kind. */
function lineOf(done: DoneElsewhere): string {
  const kind = decides(done) ? 'decides' : done.what;
  return [done.window, done.session_id, kind].join();
}

function turnOf(done: DoneElsewhere): string {
  return [lineOf(done), done.turn].join();
}
