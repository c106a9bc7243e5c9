import { RequestFailed } from '@rushhour/client';
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent as lazy,
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
  component: lazy(() => import('../features/auth/auth-pages.tsx'), 'SignInPage'),
});

const passwordRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/password',
  component: lazy(() => import('../features/auth/auth-pages.tsx'), 'PasswordPage'),
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

const pages = {
  overview: lazy(() => import('../features/overview/overview-page.tsx'), 'OverviewPage'),
  newTest: lazy(() => import('../features/new-test/new-test-page.tsx'), 'NewTestPage'),
  task: lazy(() => import('../features/tasks/task-page.tsx'), 'TaskPage'),
  taskEditor: lazy(() => import('../features/tasks/editor/task-editor-page.tsx'), 'TaskEditorPage'),
  devices: lazy(() => import('../features/tasks/devices/devices-page.tsx'), 'DevicesPage'),
  schedules: lazy(() => import('../features/schedules/schedules-page.tsx'), 'SchedulesPage'),
  approvals: lazy(() => import('../features/approvals/approvals-page.tsx'), 'ApprovalsPage'),
  approval: lazy(() => import('../features/approvals/approval-page.tsx'), 'ApprovalPage'),
  aiKeys: lazy(() => import('../features/ai-keys/ai-keys-page.tsx'), 'AiKeysPage'),
  assistants: lazy(() => import('../features/ai-keys/assistants-page.tsx'), 'AssistantsPage'),
  audit: lazy(() => import('../features/audit/audit-page.tsx'), 'AuditPage'),
  campaigns: lazy(() => import('../features/campaigns/campaigns-page.tsx'), 'CampaignsPage'),
  settings: lazy(() => import('../features/settings/settings-page.tsx'), 'SettingsPage'),
  notifications: lazy(() => import('../features/notifications/notifications-page.tsx'), 'NotificationsPage'),
  profile: lazy(() => import('../features/auth/profile-page.tsx'), 'ProfilePage'),
  resource: lazy(() => import('./resources/resource-routes.tsx'), 'ResourceRoute'),
  resourceItem: lazy(() => import('./resources/resource-routes.tsx'), 'ResourceItemRoute'),
};

const routeTree = rootRoute.addChildren([
  signInRoute,
  passwordRoute,
  shellRoute.addChildren([
    page('/', pages.overview),
    page('/new', pages.newTest, ['tasks', 'fromTemplate']),
    page('/tasks/new', pages.taskEditor, ['tasks', 'create']),
    page('/tasks/$id/edit', pages.taskEditor, ['tasks', 'create']),
    page('/tasks/$id', pages.task),
    page('/tasks/$id/runs/$runId', pages.task),
    page('/devices', pages.devices, ['tasks', 'counters']),
    page('/schedules', pages.schedules, ['tasks', 'schedules']),
    page('/approvals', pages.approvals, ['aiAdmin', 'activity']),
    page('/approvals/$id', pages.approval, ['aiAdmin', 'activity']),
    page('/ai-keys', pages.aiKeys, ['aiAdmin', 'keys']),
    page('/assistants', pages.assistants),
    page('/audit', pages.audit, ['aiAdmin', 'activity']),
    page('/campaigns', pages.campaigns, ['compromisedHost', 'list']),
    page('/settings', pages.settings),
    page('/notifications', pages.notifications),
    page('/profile', pages.profile),
    page('/resources/$name', pages.resource),
    page('/resources/$name/$id', pages.resourceItem),
  ]),
]);

export const router = createRouter({ routeTree, defaultPreload: 'intent', scrollRestoration: true });

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
