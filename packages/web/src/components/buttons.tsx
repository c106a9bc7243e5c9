import { ActionIcon, Button, CopyButton } from '@mantine/core';
import { IconDownload, type TablerIcon } from '@tabler/icons-react';
import { text } from '../lib/text.ts';

interface IconButtonProps {
  label: string;
  icon: TablerIcon;
  color?: string;
  disabled?: boolean;
  onClick: () => void;
}

/** A button without a visible label. */
export const IconButton = ({ label, icon: Icon, color = 'gray', disabled = false, onClick }: IconButtonProps) => (
  <ActionIcon variant="subtle" color={color} aria-label={label} disabled={disabled} onClick={onClick}>
    <Icon size={16} />
  </ActionIcon>
);

/** Downloads from the API in the browser’s own way. */
export const DownloadLink = ({ href, label }: { href: string; label: string }) => (
  <Button variant="default" component="a" href={href} leftSection={<IconDownload size={16} />}>
    {label}
  </Button>
);

/** Saves something the page already has. */
export const SaveButton = ({ label, onSave }: { label: string; onSave: () => void }) => (
  <Button variant="default" leftSection={<IconDownload size={16} />} onClick={onSave}>
    {label}
  </Button>
);

export const CopyTextButton = ({ value, label = text.agents.copy }: { value: string; label?: string }) => (
  <CopyButton value={value}>
    {({ copied, copy }) => (
      <Button variant="default" onClick={copy}>
        {copied ? text.agents.copied : label}
      </Button>
    )}
  </CopyButton>
);
