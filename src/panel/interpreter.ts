/** The API for other extensions. */
import { Signal } from '@lumino/signaling';
import type { IApi } from '../protocol/api';
import type { ServerFrame, SessionInfo } from '../protocol/protocol';
import type { ICodeInterpreter, IClient, ISessionEvent } from '../tokens';
import type { Store } from './store/store';

export class CodeInterpreter implements ICodeInterpreter {
  constructor(
    private readonly _options: {
      store: Store;
      api: Pick<IApi, 'sessions'>;
      client: IClient;
      /** Open the panel. */
      open: () => void;
    }
  ) {
    _options.store.state.changed.connect(() => this.changed.emit());
  }

  readonly changed = new Signal<this, void>(this);

  get current(): SessionInfo | null {
    return this._options.store.shown?.info ?? null;
  }

  sessions(notebook: string): Promise<readonly SessionInfo[]> {
    return this._options.api.sessions(notebook);
  }

  async send(text: string): Promise<string> {
    const { store } = this._options;
    if (store.state.now.sending) {
      const words = 'Another message is being sent.';
      throw new Error(store.state.trans.__(words));
    }
    // The store checks that a person causes this, as for the panel's own buttons.
    if (!(await store.conversation.send(text))) {
      throw new Error(store.state.now.failure);
    }
    return this.current!.session_id;
  }

  compose(text: string): void {
    this._options.store.prefill(text);
    this.open();
  }

  open(): void {
    this._options.open();
  }

  async *follow(
    sessionId: string,
    after = 0
  ): AsyncGenerator<ISessionEvent, void, undefined> {
    const { client } = this._options;
    const came: ISessionEvent[] = [];
    let last = after;
    let begun = false;
    let wake: () => void = () => undefined;
    const onFrame = (_: IClient, frame: ServerFrame) => {
      const next = frame.type === 'event' && frame.session_id === sessionId;
      // Before the reply to `subscribe`, frames belong to an earlier subscription. Numbers have
      // gaps.
      if (next && begun && frame.seq > last) {
        last = frame.seq;
        came.push({ seq: frame.seq, event: frame.event });
        wake();
      }
    };
    const subscribe = () => {
      begun = false;
      return client.send(
        { type: 'subscribe', session_id: sessionId, after: last },
        () => {
          begun = true;
        }
      );
    };
    const onConnected = (_: IClient, connected: boolean) => {
      if (connected) {
        // The next reconnect tries again.
        subscribe().catch(() => undefined);
      }
    };
    client.frames.connect(onFrame);
    client.connectedChanged.connect(onConnected);
    try {
      await subscribe();
      while (true) {
        yield* came.splice(0);
        if (!came.length) {
          await new Promise<void>(resolve => (wake = resolve));
        }
      }
    } finally {
      client.frames.disconnect(onFrame);
      client.connectedChanged.disconnect(onConnected);
    }
  }
}
