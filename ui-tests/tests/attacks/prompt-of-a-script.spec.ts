/** A script in an output of the person's run presses on, to send a prompt in their name. */
import { expect, test } from '../../support/fixtures';

const LOAD = '%load_ext jupyter_codeinterp';
/** The person's Shift+Enter has made the prompt below the active cell. */
const SCRIPT = `from IPython.display import HTML, display
display(HTML("""<script>
const keys = { key: 'Enter', keyCode: 13, code: 'Enter', shiftKey: true };
const how = { bubbles: true, cancelable: true, composed: true };
document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { ...keys, ...how }));
</script>"""))`;

test('a script runs a prompt after the press of a person', async ({
  model,
  notebook,
  panel,
  page
}) => {
  const path = await notebook.create([LOAD, SCRIPT, '%%ai\nadd']);
  await notebook.open(path, { panel: false });
  await notebook.run(0);
  await model.play('one_cell');
  await notebook.select(1);
  await page.keyboard.press('Shift+Enter');
  await expect(notebook.cell(2)).toContainText('A prompt for the');
  await expect(panel.root).toContainText('You did not run cell 3 yourself');
  await expect(panel.said).toHaveCount(0);
});
