package par_test
