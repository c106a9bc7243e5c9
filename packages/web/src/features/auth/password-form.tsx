import { Alert, Button, PasswordInput, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Explanation } from '../../components/explanation.tsx';
import { client } from '../../lib/client.ts';
import { text } from '../../lib/text.ts';

interface PasswordFormProps {
  /** Label of the field for the present password. */
  currentLabel: string;
  submitLabel: string;
  onDone: () => unknown;
}

/** Changes the password of the signed-in user. */
export const PasswordForm = ({ currentLabel, submitLabel, onDone }: PasswordFormProps) => {
  const change = useMutation({
    mutationFn: async (form: HTMLFormElement) => {
      const fields = new FormData(form);
      const newPassword = String(fields.get('next'));
      if (newPassword !== fields.get('repeat')) throw new Error(text.auth.differ);
      await client.auth.password({ body: { currentPassword: String(fields.get('current')), newPassword } });
      form.reset();
    },
    onSuccess: onDone,
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate(event.currentTarget);
      }}
    >
      <Stack>
        {change.error && (
          <Alert color="red" role="alert" style={{ whiteSpace: 'pre-line' }}>
            <Explanation error={change.error} />
          </Alert>
        )}
        <PasswordInput name="current" label={currentLabel} autoComplete="current-password" required />
        <PasswordInput name="next" label={text.auth.next} autoComplete="new-password" required />
        <PasswordInput name="repeat" label={text.auth.repeat} autoComplete="new-password" required />
        <Button type="submit" loading={change.isPending}>
          {submitLabel}
        </Button>
      </Stack>
    </form>
  );
};
