import type { Logger } from 'pino';
import type { AgentListener } from './gateway.ts';

/** Those who are told about agents. One that fails keeps nobody else from hearing. */
export const createListeners = (log: Logger) => {
  const listeners = new Set<AgentListener>();
  return {
    add: (listener: AgentListener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    tell: (call: (listener: AgentListener) => void) => {
      for (const listener of listeners) {
        try {
          call(listener);
        } catch (error) {
          log.error({ err: error }, 'a listener of agents failed');
        }
      }
    },
    clear: () => listeners.clear(),
  };
};
