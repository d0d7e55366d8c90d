// Package conformance tests what package stint guarantees, through its exported names only.
// There is a file of tests for each guarantee; the README names the test of each.
//
// The guarantees hold if these tests pass under the race detector, at several widths,
// again and again:
//
//	go test -race -cpu 1,2,8 -count 5 -timeout 1h ./internal/conformance
//
// A survey of ten Go libraries for pools and groups found 49 kinds of failure. The table
// names the test that shows the absence of each here. The comments of the tests name the
// libraries that fail.
//
//	Goexit and panics
//	 1  a Goexit costs no worker                  TestGoexitCostsNoWorker, TestOddEndsKeepTheCounts
//	 2  waits return after a Goexit               TestOddEndsKeepTheCounts
//	 3  a Goexit is no success                    TestFiveOutcomes
//	 4  a sequence continues after a Goexit       TestFiveOutcomes
//	 5  panics cost no worker                     TestOddEndsKeepTheCounts
//	 6  a panic keeps its stack and value         TestPanicsReachTheWaiter, TestPanicOfAPoolCrashes
//	 7  of several panics and errors all are kept TestPanicsAndErrorsAreAllKept
//	 8  no panic is swallowed                     TestPanicOfAPoolCrashes, TestPanicIsNotTheSubmitters
//	 9  a panic of the hook                       TestPanicOfTheHookCrashes
//	10  nothing returns before the crash          TestNothingReturnsBeforeTheCrash
//	11  panic(nil), panic in Goexit and so on     TestOddEndsKeepTheCounts
//	12  a panic cancels the group                 TestPanicsReachTheWaiter, TestAlsoIsWhatElseWentWrong
//	13  a late panic leaves nothing behind        TestLatePanicLeavesNothing
//	13a a panic that is not raised is seen        TestUnraisedPanicsAreWritten, TestPanicOfADroppedGroupCrashes
//
//	Cancellation and errors
//	14  queued tasks do not run after an error    TestFirstErrorCancels
//	15  the error is the cause                    TestFirstErrorCancels
//	16  cancelled and too late are told apart     TestFirstErrorCancels
//	17  missing work is reported                  TestMissingWorkIsTold
//	18  ended groups are not kept                 TestEndedGroupsAreNotKept, TestWaitingCanBeGivenUp
//	19  the caller's context stays usable         TestCallersContextStaysUsable
//	20  a cancelled group needs no worker         TestWaitingCanBeGivenUp, TestCancelledGroupNeedsNoWorker
//	21  Wait outlasts the context                 TestStructured
//	22  a blocked submitter is notified           TestWaitingCanBeGivenUp
//	23  an endless producer ends                  TestMemoryIsBounded
//	24  an error does not wait for predecessors   TestFirstErrorCancels
//
//	Limits
//	25  never more than the limit                 TestBounded, TestPrograms
//	26  a lower limit is exact                    TestSetDownIsExact
//	27  a higher limit wakes all                  TestSetUpWakesAll
//	28  to unlimited and back                     there is no unlimited; TestBadArguments
//	29  a limit of 0, or less                     pauses: TestPause; panics: TestBadArguments
//	30  gauges are right at every instant         TestStatsAreExact, FuzzPool, TestPrograms
//	31  no limit is shared by accident            TestLimitsAreNotSharedByAccident
//
//	Shutdown and lost work
//	32  every accepted task is accounted for      TestEveryAcceptedTaskIsAccountedFor, TestShutdownCountsTheAbandoned
//	33  closing twice, and tasks after it         TestCloseTwice, TestWaitTwice
//	34  closing in a task                         TestCloseInATask; Idle and Shutdown: TestBadArguments; Wait cannot
//	                                              notice it, and its comment forbids it
//	35  nothing is left after Close               TestNothingBeginsAfterClose, TestPrograms
//	36  importing starts nothing                  TestStructured
//	37  ended tasks are not kept                  TestEndedTasksAreNotKept, TestChainsAreConstant
//	38  queue memory shrinks, and is bounded      TestQueueShrinks, TestMemoryIsBounded
//
//	Liveness and fairness
//	39  a task that waits on its own full pool    TestNestingNeverDeadlocks
//	39a a pool inside a pool                      there are no subpools; two pools: TestNestingNeverDeadlocks
//	40  waiting costs nothing at GOMAXPROCS 1     TestWaitingCostsNothing
//	41  waiting calls are served in turn          TestWaitingCanBeGivenUp, TestLimiterIsFirstComeFirstServed
//	42  no wake-up is lost                        TestPrograms, TestWakeups
//	43  a busy group delays another by one task   TestBusyGroupDelaysByOneTask
//
//	Testing
//	44  in bubbles, again and again               TestBubbles
//	45  all blocking is durable                   TestBubbles
//	46  under the race detector, at 1, 2, 8 CPUs  how the tests are run: the steps raced and thorough of .ci/run
//
//	Cost
//	47  a ready task allocates nothing            TestSubmittingAllocatesNothing, TestResultsAreLinear
//	48  a group is cheap                          TestGroupIsCheap
//	49  gauges cost nothing for each item         TestSubmittingAllocatesNothing, BenchmarkGroupGo
//
// TestPrograms runs random programs over all entry points, and knows what may come out of each.
// Before a change of what they share, run many of them, with and without the race detector:
//
//	go test -run TestPrograms ./internal/conformance -stint.rounds=400000 -stint.seed=1000000
package conformance
