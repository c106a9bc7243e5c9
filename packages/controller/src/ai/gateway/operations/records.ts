import type { AllHandlers } from '../../../handler.ts';

/** Handlers of other collections; the gateway calls them like any caller. */
export type Records = Omit<AllHandlers, 'aiAdmin' | 'aiGateway'>;
