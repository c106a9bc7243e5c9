import { randomUUID } from 'node:crypto';
import type { JourneySystemValue } from '@rushhour/protocol';

/** Values that texts may use without a variable. */
export const systemValue = (name: JourneySystemValue, { user, iteration }: { user: number; iteration: number }) => {
  switch (name) {
    case '$user':
      return String(user);
    case '$iteration':
      return String(iteration);
    case '$timestamp':
      return String(Date.now());
    case '$uuid':
      return randomUUID();
    case '$random':
      return String(Math.floor(Math.random() * 1e9));
  }
};
