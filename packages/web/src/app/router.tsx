import { RequestFailed } from '@rushhour/client';
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { BrokenPage, MissingPage } from '../components/page-states.tsx';
import { sessionQuery } from '../lib/session.ts';
import { queryClient } from './query-client.ts';
import { Shell } from './shell.tsx';

const rootRoute = createRootRoute({ notFoundComponent: MissingPage, errorComponent: BrokenPage });

const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: (search: Record<string, unknown>) => (typeof search['to'] === 'string' ? { to: search['to'] } : {}),
  component: lazyRouteComponent(() => import('../features/auth/sign-in-page.tsx'), 'SignInPage'),
});

const passwordRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/password',
  component: lazyRouteComponent(() => import('../features/auth/password-page.tsx'), 'PasswordPage'),
});

/** Everything inside needs a session; whoever has none comes back after signing in. */
const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'shell',
  component: Shell,
  beforeLoad: async ({ location }) => {
    try {
      const user = await queryClient.ensureQueryData(sessionQuery);
      if (user.isRequiredToSetPassword) throw redirect({ to: '/password' });
    } catch (error) {
      if (error instanceof RequestFailed && error.status === 401) {
        throw redirect({ to: '/sign-in', search: { to: location.href } });
      }
      throw error;
    }
  },
});

type Search = Record<string, string | number | boolean>;
/** Filters, pages and tabs live in the address, so that every state can be linked to. */
const anySearch = (search: Record<string, unknown>): Search =>
  Object.fromEntries(
    Object.entries(search).filter((entry): entry is [string, string | number | boolean] =>
      ['string', 'number', 'boolean'].includes(typeof entry[1]),
    ),
  );

const overviewRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/',
  component: lazyRouteComponent(() => import('../features/overview/overview-page.tsx'), 'OverviewPage'),
});

const taskPage = lazyRouteComponent(() => import('../features/tasks/task-page.tsx'), 'TaskPage');

const taskRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/tasks/$id',
  validateSearch: anySearch,
  component: taskPage,
});

const taskRunRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/tasks/$id/runs/$runId',
  validateSearch: anySearch,
  component: taskPage,
});

const taskEditor = lazyRouteComponent(() => import('../features/tasks/editor/task-editor-page.tsx'), 'TaskEditorPage');

const newTaskRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/tasks/new',
  component: taskEditor,
});

const editTaskRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/tasks/$id/edit',
  component: taskEditor,
});

const newTestRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/new',
  component: lazyRouteComponent(() => import('../features/new-test/new-test-page.tsx'), 'NewTestPage'),
});

const settingsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/settings',
  validateSearch: anySearch,
  component: lazyRouteComponent(() => import('../features/settings/settings-page.tsx'), 'SettingsPage'),
});

const notificationsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/notifications',
  component: lazyRouteComponent(() => import('../features/notifications/notifications-page.tsx'), 'NotificationsPage'),
});

const schedulesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/schedules',
  validateSearch: anySearch,
  component: lazyRouteComponent(() => import('../features/schedules/schedules-page.tsx'), 'SchedulesPage'),
});

const approvalsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/approvals',
  validateSearch: anySearch,
  component: lazyRouteComponent(() => import('../features/approvals/approvals-page.tsx'), 'ApprovalsPage'),
});

const approvalRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/approvals/$id',
  validateSearch: anySearch,
  component: lazyRouteComponent(() => import('../features/approvals/approval-page.tsx'), 'ApprovalPage'),
});

const aiKeysRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/ai-keys',
  validateSearch: anySearch,
  component: lazyRouteComponent(() => import('../features/ai-keys/ai-keys-page.tsx'), 'AiKeysPage'),
});

const auditRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/audit',
  validateSearch: anySearch,
  component: lazyRouteComponent(() => import('../features/audit/audit-page.tsx'), 'AuditPage'),
});

const campaignsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/campaigns',
  validateSearch: anySearch,
  component: lazyRouteComponent(() => import('../features/campaigns/campaigns-page.tsx'), 'CampaignsPage'),
});

const resourceRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/resources/$name',
  validateSearch: anySearch,
  component: lazyRouteComponent(() => import('./resources/resource-route.tsx'), 'ResourceRoute'),
});

const resourceItemRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/resources/$name/$id',
  validateSearch: anySearch,
  component: lazyRouteComponent(() => import('./resources/resource-item-route.tsx'), 'ResourceItemRoute'),
});

const routeTree = rootRoute.addChildren([
  signInRoute,
  passwordRoute,
  shellRoute.addChildren([
    overviewRoute,
    newTestRoute,
    newTaskRoute,
    editTaskRoute,
    taskRoute,
    taskRunRoute,
    schedulesRoute,
    approvalsRoute,
    approvalRoute,
    aiKeysRoute,
    auditRoute,
    campaignsRoute,
    settingsRoute,
    notificationsRoute,
    resourceRoute,
    resourceItemRoute,
  ]),
]);

export const router = createRouter({ routeTree, defaultPreload: 'intent', scrollRestoration: true });

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
