import { Type } from 'typebox';
import { ListQuery, OneOf } from '../envelopes.ts';
import { collection, route } from '../route.ts';
import { Timestamp } from '../scalars.ts';
import { aiApprovalRoutes } from './ai-gateway-approvals.ts';
import { aiDraftRoutes } from './ai-gateway-drafts.ts';
import { AiPage, aiOperation, FreeObject } from './ai-gateway-operation.ts';
import { aiResourceRoutes } from './ai-gateway-resources.ts';
import { aiSelfRoutes } from './ai-gateway-self.ts';
import { aiTaskRoutes } from './ai-gateway-tasks.ts';

export const aiGateway = collection({
  tag: 'ai-gateway',
  title: 'AI Gateway',
  routes: {
    ...aiSelfRoutes,
    ...aiResourceRoutes,
    ...aiTaskRoutes,
    ...aiDraftRoutes,
    ...aiApprovalRoutes,
    audit: route({
      method: 'GET',
      path: '/ai/gateway/audit',
      summary: 'What this key has done',
      access: 'aiKey',
      ai: aiOperation('audit_list', 'audit:read', 'read'),
      query: Type.Object({
        ...Type.Pick(ListQuery(['seq'], {}), ['count', 'page', 'order']).properties,
        from: Type.Optional(Timestamp),
        to: Type.Optional(Timestamp),
        operationId: Type.Optional(Type.String({ maxLength: 64 })),
        outcome: Type.Optional(OneOf(['ok', 'denied', 'failed'])),
      }),
      reply: AiPage(FreeObject),
    }),
  },
});
