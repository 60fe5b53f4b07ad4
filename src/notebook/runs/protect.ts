/** The variables that a notebook protects: a run that changes them asks in every mode. */
import type { INotebookModel } from '@jupyterlab/notebook';
import { words } from '../document/shapes';

/** As `PROTECT` in wire/ops.py. */
const PROTECT = 'codeinterp_protect';

/** As `MOST_PROTECTED` and `LONGEST_PROTECTED` in wire/ops.py. */
const MOST = 100;
const LONGEST = 100;

/** The names of protected variables, at most MOST. Metadata may be a list or one text. */
export function protectedIn(model: INotebookModel): string[] {
  const names = words(model.sharedModel.getMetadata(PROTECT));
  const fitting = names.filter(name => name.length <= LONGEST);
  return [...new Set(fitting)].slice(0, MOST);
}

/** Call `changed` with the protected names when they may have changed. */
export function onProtected(
  model: INotebookModel,
  changed: (names: string[]) => void
): void {
  model.metadataChanged.connect((_, { key }) => {
    if (key === PROTECT || key === undefined) {
      changed(protectedIn(model));
    }
  });
}

/** Turn the variable's protection on or off; false if the notebook is read-only. */
export function toggleProtected(model: INotebookModel, name: string): boolean {
  if (model.readOnly) {
    return false;
  }
  const names = protectedIn(model);
  const others = names.filter(other => other !== name);
  const next = others.length < names.length ? others : [...names, name];
  if (next.length) {
    model.sharedModel.setMetadata(PROTECT, next);
  } else {
    model.sharedModel.deleteMetadata(PROTECT);
  }
  return true;
}
