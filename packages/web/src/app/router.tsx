import { RequestFailed } from '@rushhour/client';
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  type RouteComponent,
  redirect,
} from '@tanstack/react-router';
import { BrokenPage, Guarded, MissingPage, type Needs } from '../components/page.tsx';
import { sessionQuery } from '../lib/session.ts';
import { queryClient } from './query-client.ts';
import { Shell } from './shell.tsx';

const rootRoute = createRootRoute({ notFoundComponent: MissingPage, errorComponent: BrokenPage });

const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: (search: Record<string, unknown>) => (typeof search['to'] === 'string' ? { to: search['to'] } : {}),
  component: lazyRouteComponent(() => import('../features/auth/auth-pages.tsx'), 'SignInPage'),
});

const passwordRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/password',
  component: lazyRouteComponent(() => import('../features/auth/auth-pages.tsx'), 'PasswordPage'),
});

/** Pages inside need a session. Without one the user signs in and returns to the page. */
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
/** Pages keep filters, page and tab in the URL; each page checks its own parameters. */
const anySearch = (search: Record<string, unknown>): Search =>
  Object.fromEntries(
    Object.entries(search).filter((entry): entry is [string, string | number | boolean] =>
      ['string', 'number', 'boolean'].includes(typeof entry[1]),
    ),
  );

/** A page inside the shell, for users who may call the operation `needs`. */
const page = <const Path extends string>(path: Path, Page: RouteComponent, needs?: Needs) => {
  const guarded = () =>
    needs === undefined ? (
      <Page />
    ) : (
      <Guarded needs={needs}>
        <Page />
      </Guarded>
    );
  return createRoute({
    getParentRoute: () => shellRoute,
    path,
    validateSearch: anySearch,
    component: Object.assign(guarded, Page.preload && { preload: Page.preload }),
  });
};

const taskPage = lazyRouteComponent(() => import('../features/tasks/task-page.tsx'), 'TaskPage');
const taskEditor = lazyRouteComponent(() => import('../features/tasks/editor/task-editor-page.tsx'), 'TaskEditorPage');

const routeTree = rootRoute.addChildren([
  signInRoute,
  passwordRoute,
  shellRoute.addChildren([
    page(
      '/',
      lazyRouteComponent(() => import('../features/overview/overview-page.tsx'), 'OverviewPage'),
    ),
    page(
      '/new',
      lazyRouteComponent(() => import('../features/new-test/new-test-page.tsx'), 'NewTestPage'),
      ['tasks', 'fromTemplate'],
    ),
    page('/tasks/new', taskEditor, ['tasks', 'create']),
    page('/tasks/$id/edit', taskEditor, ['tasks', 'create']),
    page('/tasks/$id', taskPage),
    page('/tasks/$id/runs/$runId', taskPage),
    page(
      '/schedules',
      lazyRouteComponent(() => import('../features/schedules/schedules-page.tsx'), 'SchedulesPage'),
      ['tasks', 'schedules'],
    ),
    page(
      '/approvals',
      lazyRouteComponent(() => import('../features/approvals/approvals-page.tsx'), 'ApprovalsPage'),
      ['aiAdmin', 'activity'],
    ),
    page(
      '/approvals/$id',
      lazyRouteComponent(() => import('../features/approvals/approval-page.tsx'), 'ApprovalPage'),
      ['aiAdmin', 'activity'],
    ),
    page(
      '/ai-keys',
      lazyRouteComponent(() => import('../features/ai-keys/ai-keys-page.tsx'), 'AiKeysPage'),
      ['aiAdmin', 'keys'],
    ),
    page(
      '/audit',
      lazyRouteComponent(() => import('../features/audit/audit-page.tsx'), 'AuditPage'),
      ['aiAdmin', 'activity'],
    ),
    page(
      '/campaigns',
      lazyRouteComponent(() => import('../features/campaigns/campaigns-page.tsx'), 'CampaignsPage'),
      ['compromisedHost', 'list'],
    ),
    page(
      '/settings',
      lazyRouteComponent(() => import('../features/settings/settings-page.tsx'), 'SettingsPage'),
    ),
    page(
      '/notifications',
      lazyRouteComponent(() => import('../features/notifications/notifications-page.tsx'), 'NotificationsPage'),
    ),
    page(
      '/resources/$name',
      lazyRouteComponent(() => import('./resources/resource-routes.tsx'), 'ResourceRoute'),
    ),
    page(
      '/resources/$name/$id',
      lazyRouteComponent(() => import('./resources/resource-routes.tsx'), 'ResourceItemRoute'),
    ),
  ]),
]);

export const router = createRouter({ routeTree, defaultPreload: 'intent', scrollRestoration: true });

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
