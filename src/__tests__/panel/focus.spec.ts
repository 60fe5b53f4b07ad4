import { keepFocus } from '../../panel/page/focus';

let next: jest.Mock;
let keeper: ReturnType<typeof keepFocus>;

beforeEach(() => {
  document.body.innerHTML = `
    <div class="jp-codeinterp-Panel">
      <form><input><button id="save">Save</button></form>
      <button id="undo">Undo turn</button>
      <div class="jp-codeinterp-Composer"><textarea></textarea><button id="send">Send</button></div>
    </div>
    <div class="jp-Cell"><div class="jp-codeinterp-bar"><button id="run">Run</button></div></div>
    <button id="other">Other</button>`;
  next = jest.fn(() => document.querySelector('textarea')!.focus());
  keeper = keepFocus(next);
});
afterEach(() => keeper.dispose());

const one = (selector: string) =>
  document.querySelector<HTMLButtonElement>(selector)!;
const settled = () => new Promise(resolve => setTimeout(resolve, 1));

it.each(['#undo', '#save', 'input'])(
  'goes on when %s is taken away',
  async selector => {
    one(selector).focus();
    one(selector).remove();
    await settled();
    expect(document.activeElement).toBe(one('textarea'));
  }
);

it('stays at the bar whose button is taken away, on none of the others', async () => {
  one('#run').focus();
  one('#run').remove();
  await settled();
  expect(document.activeElement).toBe(one('.jp-codeinterp-bar'));
  expect(next).not.toHaveBeenCalled();
});

it('goes on when the whole cell with the button is taken away', async () => {
  one('#run').focus();
  one('.jp-Cell').remove();
  await settled();
  expect(next).toHaveBeenCalledTimes(1);
});

it('goes on once a button that was disabled meanwhile is gone', async () => {
  one('#undo').focus();
  one('#undo').disabled = true;
  // As browsers do.
  one('#undo').blur();
  await settled();
  expect(next).not.toHaveBeenCalled();
  one('#undo').remove();
  await settled();
  expect(document.activeElement).toBe(one('textarea'));
});

it('goes back to a button that was busy and is there again', async () => {
  one('#save').focus();
  one('#save').disabled = true;
  one('#save').blur();
  await settled();
  one('#save').disabled = false;
  await settled();
  expect(document.activeElement).toBe(one('#save'));
  expect(next).not.toHaveBeenCalled();
});

it('goes on when the button beside the field is disabled', async () => {
  one('#send').focus();
  one('#send').disabled = true;
  await settled();
  expect(document.activeElement).toBe(one('textarea'));
});

it('leaves the person alone who has gone elsewhere', async () => {
  one('#undo').focus();
  one('#other').focus();
  one('#undo').remove();
  await settled();
  one('#run').focus();
  one('#run').blur();
  await settled();
  one('#run').remove();
  await settled();
  expect(next).not.toHaveBeenCalled();
});
