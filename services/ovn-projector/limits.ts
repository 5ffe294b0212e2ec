/** Limits of the projector's inputs, checked before other work. docs/security.md lists them. */
export const projectorLimits = {
  /** Names of objects and other texts in their specs, as Kubernetes limits them. */
  nameLength: 253,
  /** The length of each field with options of DHCP or router advertisements. */
  optionsLength: 1_024,
  /** Providers of one Pod whose port security is read; also the limit of attachments of a Pod. */
  securedProviders: 24,
  /** The length of "<network>.<namespace>.ovn", as the allocator limits it. */
  providerLength: 337,
  /** Rows of the northbound database that the projector copies, all tables together. */
  northboundRows: 1_000_000,
  /** New and changed rows in one transaction. */
  transactionRows: 1_000,
  /** Problems that one comparison logs. */
  loggedProblems: 100,
} as const;
