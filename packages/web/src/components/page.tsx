import { Button, Card, Center, Group, Pagination, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { RequestFailed } from '@rushhour/client';
import { type ErrorComponentProps, Link, useRouter } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useMay } from '../lib/session.ts';
import { text } from '../lib/text.ts';
import { Problem } from './problem.tsx';

/** The title of a page, with its main actions on the right. */
export const PageHeading = ({ title, children }: { title: string; children?: ReactNode }) => {
  useDocumentTitle(text.app.titleOf(title));
  return (
    <Group justify="space-between">
      <Title order={1} size="h3" style={{ overflowWrap: 'anywhere', minWidth: 0 }}>
        {title}
      </Title>
      {children}
    </Group>
  );
};

interface SectionProps {
  title: ReactNode;
  order?: 2 | 3;
  /** To the right of the title. */
  aside?: ReactNode;
  children: ReactNode;
}

/** A card with a title. */
export const Section = ({ title, order = 2, aside, children }: SectionProps) => (
  <Card withBorder padding="sm">
    <Group justify="space-between" mb="xs">
      <Title order={order} size="h5">
        {title}
      </Title>
      {aside}
    </Group>
    {children}
  </Card>
);

interface PagesProps {
  total: number;
  page: number;
  onPage: (page: number) => void;
}

/** Page numbers; nothing when there is only one page. */
export const Pages = ({ total, page, onPage }: PagesProps) =>
  total > 1 && (
    <Pagination
      total={Math.ceil(total)}
      value={page}
      onChange={onPage}
      getControlProps={(control) => ({ 'aria-label': control })}
      getItemProps={(number) => ({ 'aria-label': text.table.page(number) })}
    />
  );

interface ListPageProps<Row> extends Partial<Omit<PagesProps, 'total'>> {
  title: string;
  actions?: ReactNode;
  /** What the page shows, in one or two sentences. */
  hint?: string;
  filters?: ReactNode;
  list: { data: readonly Row[]; cursor?: { totalPages: number } } | undefined;
  error: unknown;
  /** Shown when the list is empty. */
  empty: string;
  children: (rows: readonly Row[]) => ReactNode;
}

/** A list with filters and pages, and its loading, error and empty states. */
export const ListPage = <Row,>(props: ListPageProps<Row>) => {
  const { title, actions, hint, filters, list, error, empty, page = 1, onPage = () => {}, children } = props;
  return (
    <Stack>
      <PageHeading title={title}>{actions}</PageHeading>
      {hint !== undefined && (
        <Text size="sm" c="dimmed">
          {hint}
        </Text>
      )}
      {filters !== undefined && <Group align="flex-end">{filters}</Group>}
      {error !== null && error !== undefined && <Problem error={error} />}
      {list === undefined && !error && <Skeleton height={240} />}
      {list?.data.length === 0 && <EmptyState title={empty} />}
      {list !== undefined && list.data.length > 0 && children(list.data)}
      <Pages total={list?.cursor?.totalPages ?? 1} page={page} onPage={onPage} />
    </Stack>
  );
};

/** Shown instead of a list without records, with what to do about it. */
export const EmptyState = ({ title, children }: { title: string; children?: ReactNode }) => (
  <Center py="xl">
    <Stack align="center" gap="xs">
      <Text c="dimmed">{title}</Text>
      {children}
    </Stack>
  </Center>
);

interface NoticeProps {
  title: string;
  hint?: string;
  children?: ReactNode;
}

const Notice = ({ title, hint, children }: NoticeProps) => {
  useDocumentTitle(text.app.titleOf(title));
  return (
    <Center mih="60vh">
      <Stack align="center" maw={600} px="md">
        <Title order={1} size="h3" ta="center">
          {title}
        </Title>
        {hint !== undefined && (
          <Text c="dimmed" ta="center">
            {hint}
          </Text>
        )}
        {children ?? <ExitButtons />}
      </Stack>
    </Center>
  );
};

const ExitButtons = () => {
  const router = useRouter();
  return (
    <Group>
      <Button variant="default" onClick={() => router.history.back()}>
        {text.app.goBack}
      </Button>
      <Button renderRoot={(props) => <Link {...props} to="/" />}>{text.app.goHome}</Button>
    </Group>
  );
};

export const MissingPage = () => <Notice title={text.app.notFound} hint={text.app.notFoundText} />;

/** A page that could not be read: it does not exist, or something went wrong. */
export const FailedPage = ({ error }: { error: unknown }) =>
  error instanceof RequestFailed && error.status === 404 ? <MissingPage /> : <Problem error={error} />;

export const BrokenPage = ({ error }: ErrorComponentProps) => {
  const router = useRouter();
  return (
    <Notice title={text.app.broken}>
      <Problem error={error} />
      <Button onClick={() => void router.invalidate()}>{text.app.tryAgain}</Button>
    </Notice>
  );
};

/** Collection and operation, as in `useMay`. */
export type Needs = Parameters<ReturnType<typeof useMay>>;

/** Shows a page only to users who may call the operation; others would get a 403 from the controller. */
export const Guarded = ({ needs, children }: { needs: Needs; children: ReactNode }) =>
  useMay()(...needs) ? children : <Notice title={text.app.notAllowed} hint={text.app.notAllowedText} />;
