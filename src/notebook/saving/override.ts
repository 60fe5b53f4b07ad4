import { DisposableDelegate } from '@lumino/disposable';
import type { IDisposable } from '@lumino/disposable';

/**
 * Replace a method of an object by `around` until disposed; `around` gets the original method
 * and the arguments. If other code has wrapped the replacement, its wrapper stays, and the
 * replacement only calls the original.
 */
export function override<
  K extends string,
  F extends (...args: never[]) => unknown
>(
  object: Record<K, F>,
  name: K,
  around: (before: F, ...args: Parameters<F>) => ReturnType<F>
): IDisposable {
  const own = Object.prototype.hasOwnProperty.call(object, name);
  const stood = object[name];
  const before = stood.bind(object) as F;
  let over = false;
  const ours = (...args: Parameters<F>) =>
    over ? before(...args) : around(before, ...args);
  object[name] = ours as F;
  return new DisposableDelegate(() => {
    over = true;
    if (object[name] !== ours) {
      return;
    }
    if (own) {
      object[name] = stood;
    } else {
      delete (object as Partial<Record<K, F>>)[name];
    }
  });
}
