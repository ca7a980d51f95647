/**
 * CPU time of this process so far, in ms. Tests of cheap work judge by it: the wall clock also counts what other processes of
 * a busy machine do meanwhile.
 */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
