/** Signs a person in at the open page. */
import type { Page } from 'playwright-core';

export async function signIn(page: Page, token: string): Promise<void> {
  await page.getByLabel('Kubernetes token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}
