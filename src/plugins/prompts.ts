/** Sends the prompts that the person runs in cells, as messages of the cell's notebook. */
import type { TranslationBundle } from '@jupyterlab/translation';
import type { Notebooks } from '../notebook/notebooks';
import { type IPrompt, followPrompts } from '../notebook/runs/prompt-cells';
import type { Store } from '../panel/store/store';

/** `show` shows the panel without taking the focus. */
export function sendPrompts(
  notebooks: Notebooks,
  store: Store,
  trans: TranslationBundle,
  show: () => void
): void {
  const send = async (prompt: IPrompt) => {
    const { model, cellId, text } = prompt;
    const path = notebooks.pathOf(model);
    const failure =
      problemOf(prompt, path, trans) ||
      ((await store.conversation.hasModel(path))
        ? ''
        : trans.__(
            'No model is connected. The prompt in cell %1 was not sent.',
            prompt.number
          ));
    if (failure) {
      store.state.patch({ failure });
    } else {
      await store.state.attempt(async () => {
        const { typedReferences } =
          await import('../panel/components/composer/mentions');
        const options = { store, trans, known: [] };
        const references = await typedReferences(text, path, options);
        await store.conversation.sendPrompt(path, cellId, text, references);
      });
    }
    show();
  };
  let last = Promise.resolve();
  followPrompts(prompt => {
    last = last.then(() => send(prompt));
  });
}

function problemOf(
  { model, number, refusal }: IPrompt,
  path: string,
  trans: TranslationBundle
): string {
  if (model.isDisposed) {
    return trans.__(
      'The notebook was closed before the prompt in cell %1 was sent.',
      number
    );
  }
  if (!path) {
    return trans.__(
      'This notebook is not a file of the Jupyter server. The prompt in cell %1 was not sent.',
      number
    );
  }
  switch (refusal) {
    case 'private':
      return trans.__('Cell %1 is private. Its prompt was not sent.', number);
    case 'agent':
      return trans.__(
        'The agent wrote cell %1. Its prompt was not sent. To ask this, write it in a cell of your own.',
        number
      );
    case 'script':
      return trans.__(
        'You did not run cell %1 yourself. Its prompt was not sent. Run the cell to send it.',
        number
      );
    default:
      return '';
  }
}
