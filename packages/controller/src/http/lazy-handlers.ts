import type { Collection } from '@rushhour/contract';
import type { Handlers } from '../handler.ts';

type AnyHandlers = Record<string, (request: unknown, caller: unknown) => unknown>;

export type Later = <C extends Collection>(collection: C, load: () => Promise<Handlers<C>>) => Handlers<C>;

/**
 * Collections whose code is read when the first request needs it, or by `loadAll` once the controller is ready: a
 * controller that starts need not wait for what nobody has asked for.
 */
export const createLoader = () => {
  const loads: (() => Promise<unknown>)[] = [];

  const later: Later = <C extends Collection>({ routes }: C, load: () => Promise<Handlers<C>>) => {
    let handlers: AnyHandlers | undefined;
    let loading: Promise<AnyHandlers> | undefined;
    const loaded = () => {
      loading ??= load().then((all) => {
        handlers = all as unknown as AnyHandlers;
        return handlers;
      });
      return loading;
    };
    loads.push(loaded);
    const handlerOf =
      (key: string) =>
      (request: unknown, caller: unknown): unknown =>
        handlers === undefined ? loaded().then((all) => all[key]?.(request, caller)) : handlers[key]?.(request, caller);
    return Object.fromEntries(Object.keys(routes).map((key) => [key, handlerOf(key)])) as unknown as Handlers<C>;
  };

  const loadAll = async () => {
    for (const load of loads) await load();
  };
  return { later, loadAll };
};
