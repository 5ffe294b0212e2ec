/** The format of provider names. Pure. */

/** Whether a provider is one of Kube-OVN's own networks: "", "ovn", or "<name>.<namespace>.ovn". */
export function isOvnProvider(provider: string): boolean {
  const parts = provider.split('.');
  return provider === '' || provider === 'ovn' || (parts.length === 3 && parts[2] === 'ovn');
}
