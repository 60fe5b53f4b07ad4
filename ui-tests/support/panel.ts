/** The sidebar, by role and name. */
import { expect, type Locator, type Page } from '@playwright/test';
import type { FakeModel } from './model';

export class Panel {
  constructor(readonly page: Page) {
    this.root = page.locator('#codeinterp-panel');
    this.tab = page.getByRole('tab', { name: 'Code Interpreter' });
    this.log = this.root.getByRole('log', { name: 'Conversation' });
    this.message = this.root.getByRole('textbox', { name: 'Message' });
    this.sendButton = this.root.getByRole('button', { name: 'Send' });
    this.stopButton = this.root.getByRole('button', { name: 'Stop' });
    this.mode = this.root.getByRole('combobox', { name: 'Permission mode' });
    this.said = this.log.getByRole('group', { name: 'You' });
    this.cards = this.log.getByRole('group', { name: 'Review cell' });
  }

  readonly root: Locator;
  readonly tab: Locator;
  readonly log: Locator;
  readonly message: Locator;
  readonly sendButton: Locator;
  readonly stopButton: Locator;
  readonly mode: Locator;
  /** What the person has said. */
  readonly said: Locator;
  /** The cards that wait for a decision. */
  readonly cards: Locator;

  /** By keys, as a person does it: what a script selects does not count as theirs. */
  async choose(mode: 'Review' | 'Auto' | 'Plan'): Promise<void> {
    await this.mode.focus();
    await this.page.keyboard.type(mode);
    await expect(this.mode).toHaveValue(mode.toLowerCase());
  }

  /** Send a message; resolves once its turn has begun. */
  async ask(text: string): Promise<void> {
    const said = await this.said.count();
    await this.message.fill(text);
    await this.sendButton.click();
    await expect(this.said).toHaveCount(said + 1);
  }

  /** Leave this conversation; resolves once the new one is shown. */
  async newConversation(): Promise<void> {
    // The history has a button of that name, too.
    await this.root
      .getByRole('button', { name: 'New conversation', exact: true })
      .first()
      .click();
    await expect(this.said).toHaveCount(0);
  }

  /** Resolves at the end of the turn, however it ended. */
  async ended(): Promise<void> {
    const last = this.log.locator('.jp-codeinterp-Item').last();
    await expect(last).toHaveAttribute('data-kind', 'end', { timeout: 60_000 });
    await expect(this.stopButton).toBeHidden();
  }

  /** Resolves once a draft is whole and waits for the person; its card. */
  async waiting(title?: string): Promise<Locator> {
    const card = title ? this.cards.filter({ hasText: title }) : this.cards;
    await expect(
      card.getByRole('button', { name: 'Run', exact: true })
    ).toBeEnabled();
    return card;
  }

  /** A turn that adds a cell, `1 + 1`; resolves once its draft waits. */
  async add(model: FakeModel): Promise<void> {
    await model.play('one_cell');
    await this.ask('Add');
    await this.waiting('Add');
  }

  /** A turn that adds a cell, edits the first and deletes the second. */
  async tidy(model: FakeModel): Promise<void> {
    await model.play('tidy');
    await this.ask('Tidy up');
    await this.decide('Run', 'Add a cell');
    await this.decide('Run', 'Mend the cell');
    const remove = this.cards.getByRole('button', {
      name: 'Delete',
      exact: true
    });
    await pressAway(remove);
    await this.ended();
  }

  /** Undo the cells of the turn. */
  async undoTurn(): Promise<void> {
    await this.log.getByRole('button', { name: 'Undo turn' }).last().click();
  }

  /**
   * Press a button of the card that waits; as a person would, again if the card says that the
   * press came too early.
   */
  async decide(name: 'Run' | 'Reject', title?: string): Promise<void> {
    const card = await this.waiting(title);
    const early = card.getByText('Read it first');
    await expect(async () => {
      await card.getByRole('button', { name, exact: true }).click();
      await this.page.evaluate(
        () => new Promise(drawn => requestAnimationFrame(drawn))
      );
      expect(await early.count()).toBe(0);
    }).toPass({ intervals: [1_000] });
  }
}

/**
 * Press a button until it has gone, as a person would: a press on one that has just come does not
 * count.
 */
export async function pressAway(button: Locator): Promise<void> {
  await expect(button).toBeVisible();
  await expect(async () => {
    // It may have gone since the last press.
    if (await button.isVisible()) {
      await button.click({ timeout: 2_000 });
    }
    await expect(button).toBeHidden({ timeout: 2_000 });
  }).toPass();
}
