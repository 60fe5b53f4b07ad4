/**
 * Puts a function in place of an object's method, and takes it away again without taking
 * away what others have put in its place since.
 */
import { DisposableDelegate } from '@lumino/disposable';
import type { IDisposable } from '@lumino/disposable';

/**
 * `around` is called in place of the method, with what stood there before and the arguments.
 * After the end of it the method is what it was; if another has wrapped ours meanwhile, theirs
 * stays and ours does nothing but call what stood there before.
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
