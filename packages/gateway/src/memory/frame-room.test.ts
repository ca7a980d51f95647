import { expect, test } from "vitest";
import { FrameRoom } from "./frame-room.ts";

test("frames are admitted in their order while there is room, and the others as it is left", () => {
  const room = new FrameRoom(100);
  const admitted: string[] = [];
  const request = (name: string, bytes: number): (() => void) =>
    room.request(bytes, () => admitted.push(name));
  const leaveA = request("a", 60);
  const leaveB = request("b", 60);
  request("c", 10);
  // A small frame does not overtake: large ones would never get their turn.
  expect([admitted, room.isContended]).toEqual([["a"], true]);
  leaveA();
  expect([admitted, room.isContended]).toEqual([["a", "b", "c"], false]);
  const leaveD = request("d", 60);
  leaveD();
  leaveB();
  expect(admitted).toEqual(["a", "b", "c"]);
  request("e", 90);
  expect(admitted).toEqual(["a", "b", "c", "e"]);
});

test("a frame larger than all the room is admitted alone", () => {
  const room = new FrameRoom(100);
  const admitted: number[] = [];
  const leave = room.request(500, () => admitted.push(1));
  room.request(1, () => admitted.push(2));
  expect(admitted).toEqual([1]);
  leave();
  expect(admitted).toEqual([1, 2]);
});
