import { createBusyThrottle } from "@sluice/core";
import { systemTimer } from "@sluice/core/system";

const throttle = createBusyThrottle();

/** Waits while the service is overloaded, and learns from every answer. */
export async function call(url: string): Promise<Response> {
  while (!throttle.trySend()) await systemTimer.sleep(throttle.pauseMs());
  const sentAtMs = systemTimer.now();
  const response = await fetch(url);
  throttle.onAnswer(sentAtMs, response.status === 429 || response.status === 503);
  return response;
}
