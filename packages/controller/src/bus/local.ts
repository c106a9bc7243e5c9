import { EventEmitter } from 'node:events';

/** Events between parts of the controller, published after the change is on disk. */
export interface Events {
  'settings.changed': undefined;
  /** A notification was stored; streams read it from the store. */
  notification: { id: number };
  'task.status': { id: number; status: number; permission: number };
  /** A run was changed in the store; its conductor reads it again. */
  'run.changed': { runId: number };
  /** A controller stops: the runs that it conducted have no owner. */
  'runs.free': undefined;
  'agent.status': { id: number; status: number; permission: number };
  /** An agent was blocked, removed or unblocked; the controller it is connected to ends its session. */
  'agent.access': { id: number; access: 'blocked' | 'removed' | 'allowed'; status: number };
  /** Events of other controllers may have been missed: subscribers that cache state read it again. */
  'bus.resumed': undefined;
  /** An approval was asked for, decided or used. */
  'approval.changed': { id: number };
}

export interface Bus {
  publish<Name extends keyof Events>(name: Name, event: Events[Name]): void;
  /** Returns the function that ends the subscription. */
  subscribe<Name extends keyof Events>(name: Name, listener: (event: Events[Name]) => void): () => void;
  close(): Promise<void>;
}

/** Events inside this process. */
export const localBus = (): Bus => {
  const emitter = new EventEmitter().setMaxListeners(0);
  return {
    publish: (name, event) => void emitter.emit(name, event),
    subscribe: (name, listener) => {
      emitter.on(name, listener);
      return () => void emitter.off(name, listener);
    },
    close: async () => {},
  };
};
