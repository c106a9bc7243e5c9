import { Type } from 'typebox';
import { ListQuery } from '../../envelopes.ts';
import { collection, route } from '../../route.ts';
import { Timestamp } from '../../scalars.ts';
import { optional } from '../../schema.ts';
import { aiApprovalRoutes } from './approvals.ts';
import { aiDraftRoutes } from './drafts.ts';
import { AiPage, aiOperation, FreeObject } from './operation.ts';
import { aiResourceRoutes } from './resources.ts';
import { aiSelfRoutes } from './self.ts';
import { aiTaskRoutes } from './tasks.ts';

export const aiGateway = collection({
  tag: 'ai-gateway',
  title: 'AI Gateway',
  routes: {
    ...aiSelfRoutes,
    ...aiResourceRoutes,
    ...aiTaskRoutes,
    ...aiDraftRoutes,
    ...aiApprovalRoutes,
    audit: route('GET /ai/gateway/audit', {
      summary: 'What this key has done',
      access: 'aiKey',
      ai: aiOperation('audit_list', 'audit:read', 'read'),
      query: Type.Object({
        ...Type.Pick(ListQuery(['seq'], {}), ['count', 'page', 'order']).properties,
        from: Type.Optional(Timestamp),
        to: Type.Optional(Timestamp),
        operationId: optional.text(64),
        outcome: optional.oneOf(['ok', 'denied', 'failed']),
      }),
      reply: AiPage(FreeObject),
    }),
  },
});
