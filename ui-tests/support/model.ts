/** The control of the fake model (`python -m tests.fake_anthropic`), on its own port. */
import { expect, type APIRequestContext } from '@playwright/test';
import { LANE } from './servers';

/** A content block of the Messages API; the fields depend on its type. */
export interface IBlock {
  type: string;
  text?: string;
  content?: IBlock[];
  [field: string]: unknown;
}

export interface IModelRequest {
  body: {
    model: string;
    messages: { role: 'user' | 'assistant'; content: string | IBlock[] }[];
    [field: string]: unknown;
  };
  /** Bytes. */
  size: number;
  status: number;
  /** The client left before the answer's end. */
  gone: boolean;
}

/** Seconds before the first byte and after each delta, characters a delta, bytes a write. */
export interface ISpeed {
  first?: number;
  delay?: number;
  chunk?: number;
  split?: number;
}

export class FakeModel {
  constructor(private readonly _request: APIRequestContext) {}

  /** As at the start: nothing recorded, full speed, a message's `#name` chooses. */
  async reset(): Promise<void> {
    await this._call('POST', 'reset', {});
  }

  /** Play this scenario whatever the message says. */
  async play(scenario: string): Promise<void> {
    await this._call('POST', 'scenario', { name: scenario });
  }

  async speed(speed: ISpeed): Promise<void> {
    await this._call('POST', 'speed', speed);
  }

  async requests(): Promise<IModelRequest[]> {
    return (await this._state()).requests;
  }

  /** What was wrong with the requests; each was answered with status 400. */
  async violations(): Promise<string[]> {
    return (await this._state()).violations;
  }

  /** Wait until so many requests have come. */
  async seen(count: number): Promise<IModelRequest[]> {
    await expect
      .poll(async () => (await this.requests()).length)
      .toBeGreaterThanOrEqual(count);
    return this.requests();
  }

  /**
   * The text of the newest message that the model was sent: results, or the person's words.
   * The delimiters around what others wrote are left out.
   */
  async told(): Promise<string> {
    const { body } = (await this.requests()).at(-1)!;
    const told = textOf(body.messages.at(-1)!.content);
    return told.replace(
      /<output-[0-9a-f]{16}>\n|\n<\/output-[0-9a-f]{16}>/g,
      ''
    );
  }

  private async _state(): Promise<{
    requests: IModelRequest[];
    violations: string[];
  }> {
    return (await this._call('GET', 'state')).json();
  }

  private async _call(method: string, name: string, data?: object) {
    const url = `${LANE.model}/control/${name}`;
    const response = await this._request.fetch(url, { method, data });
    expect(response.ok(), `${method} ${url}: ${response.status()}`).toBe(true);
    return response;
  }
}

function textOf(content: string | IBlock[]): string {
  return typeof content === 'string'
    ? content
    : content
        .map(block => block.text ?? textOf(block.content ?? []))
        .join('\n');
}
