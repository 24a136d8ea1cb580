/**
 * Accounts of whoever operates this service: programs that its transactions call, and accounts that pay their fees. An operator puts its own
 * here; the sandbox's pretended operator calls this program.
 */
export const OPERATOR_ACCOUNTS: readonly string[] = ['HKyLpGScPPYjQ1vA4BFBAGJEHduLyhhm1pNzMB5SKY7C'];
