import type { AllHandlers } from '../../../handler.ts';

/** What other collections answer; the gateway asks them as any caller does. */
export type Records = Omit<AllHandlers, 'aiAdmin' | 'aiGateway'>;
