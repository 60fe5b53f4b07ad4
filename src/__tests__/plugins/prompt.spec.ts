import { nullTranslator } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';
import { Signal } from '@lumino/signaling';
import {
  type IConversation,
  addPromptCommand
} from '../../plugins/commands/prompt';
import { Stage, cell, until } from '../notebook/stage';

it('sends the prompt of a cell once, however often Enter is pressed', async () => {
  const stage = await Stage.make([cell('a', 'x = 1')]);
  const sent: string[] = [];
  let accept: (sent: boolean) => void = () => undefined;
  let opened = 0;
  const changed = new Signal<unknown, void>({});
  const conversation: IConversation = {
    send: text => {
      // As the store: a second message in one moment is not sent.
      if (sent.push(text) > 1) {
        return Promise.resolve(false);
      }
      return new Promise(resolve => (accept = resolve));
    },
    stop: () => undefined,
    works: true,
    runs: true,
    changed,
    open: () => opened++
  };
  const commands = new CommandRegistry();
  const trans = nullTranslator.load('');
  const { tracker, panel } = stage;
  const command = addPromptCommand({ commands, tracker, conversation, trans });
  await until('a cell is active', () => !!tracker.activeCell);
  await commands.execute(command);
  const field = panel.node.querySelector('textarea')!;
  const press = () =>
    field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' }));
  field.value = 'Double it';
  press();
  press();
  accept(true);
  await until('it is sent', () => !field.isConnected);
  // An Enter may still be on its way to the field.
  press();
  await new Promise(resolve => setTimeout(resolve));
  expect(sent).toHaveLength(1);
  expect(opened).toBe(0);
  stage.dispose();
});
