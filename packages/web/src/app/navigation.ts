import type { api } from '@rushhour/contract';
import {
  IconAffiliate,
  IconBell,
  IconBooks,
  IconCalendar,
  IconCertificate,
  IconDashboard,
  IconFiles,
  IconFolder,
  IconHash,
  IconKey,
  IconListCheck,
  IconNetwork,
  IconReportSearch,
  IconRoute,
  IconRouter,
  IconServer2,
  IconSettings,
  IconShieldExclamation,
  IconTemplate,
  IconTimeline,
  IconUser,
  IconUsersGroup,
  IconVirus,
  IconWorld,
} from '@tabler/icons-react';
import type { ComponentType } from 'react';
import { text } from '../lib/text.ts';

export interface NavigationItem {
  readonly label: string;
  readonly to: string;
  readonly icon: ComponentType<{ size?: number; stroke?: number }>;
  /** Shown to users who may call this operation. */
  readonly needs?: readonly [keyof typeof api, string];
}

export interface NavigationSection {
  readonly title: string;
  readonly items: readonly NavigationItem[];
}

const { nav } = text;
const resource = (name: string) => `/resources/${name}`;

/** The menu, whose items are also in the command palette. */
export const navigation: readonly NavigationSection[] = [
  {
    title: nav.sections.run,
    items: [
      { label: nav.overview, to: '/', icon: IconDashboard },
      { label: nav.tasks, to: resource('tasks'), icon: IconTimeline, needs: ['tasks', 'list'] },
      { label: nav.schedules, to: '/schedules', icon: IconCalendar, needs: ['tasks', 'schedules'] },
      { label: nav.templates, to: resource('taskTemplates'), icon: IconTemplate, needs: ['taskTemplates', 'list'] },
      { label: nav.agents, to: resource('agents'), icon: IconServer2, needs: ['agents' as never, 'list'] },
      { label: nav.devices, to: '/devices', icon: IconRouter, needs: ['tasks', 'counters'] },
      { label: nav.projects, to: resource('projects'), icon: IconFolder, needs: ['projects', 'list'] },
    ],
  },
  {
    title: nav.sections.build,
    items: [
      { label: nav.networks, to: resource('networks'), icon: IconNetwork, needs: ['networks', 'list'] },
      { label: nav.macs, to: resource('macs'), icon: IconHash, needs: ['macs', 'list'] },
      { label: nav.tunnels, to: resource('tunnels'), icon: IconAffiliate, needs: ['tunnels', 'list'] },
      { label: nav.certificates, to: resource('certificates'), icon: IconCertificate, needs: ['certificates', 'list'] },
      { label: nav.files, to: resource('files'), icon: IconFiles, needs: ['files', 'list'] },
      { label: nav.applications, to: resource('applications'), icon: IconWorld, needs: ['applications', 'list'] },
      { label: nav.dictionaries, to: resource('dictionaries'), icon: IconBooks, needs: ['dictionaries', 'list'] },
      { label: nav.malware, to: resource('malware'), icon: IconVirus, needs: ['malware', 'list'] },
      { label: nav.cve, to: resource('cve'), icon: IconShieldExclamation, needs: ['cve', 'list'] },
      { label: nav.campaigns, to: '/campaigns', icon: IconRoute, needs: ['compromisedHost', 'list'] },
    ],
  },
  {
    title: nav.sections.administer,
    items: [
      { label: nav.users, to: resource('users'), icon: IconUser, needs: ['users', 'list'] },
      { label: nav.groups, to: resource('groups'), icon: IconUsersGroup, needs: ['groups', 'list'] },
      { label: nav.approvals, to: '/approvals', icon: IconListCheck, needs: ['aiAdmin', 'activity'] },
      { label: nav.aiKeys, to: '/ai-keys', icon: IconKey, needs: ['aiAdmin', 'keys'] },
      { label: nav.audit, to: '/audit', icon: IconReportSearch, needs: ['aiAdmin', 'activity'] },
      { label: nav.notifications, to: '/notifications', icon: IconBell },
      { label: nav.settings, to: '/settings', icon: IconSettings, needs: ['settings', 'get'] },
    ],
  },
];
